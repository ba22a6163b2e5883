/**
 * Sums of the amounts that labels, and destinations with many payments, received. Updated incrementally. Coinbases do not
 * count. Source: lbrycrd wallet/rpcwallet.cpp `getreceivedbylabel`, `getreceivedbyaddress`, `ListReceived`.
 */
import { MINE } from '../keys/isMine.js';
import type { Entry } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';
import { destinationFlags } from './amounts.js';
import { HeightSums } from './heightSums.js';
import { RunningSums } from './runningSums.js';

interface Received {
  readonly height: number;
  readonly outputs: readonly { readonly to: string; readonly valueSat: bigint; readonly isPlain: boolean }[];
}

/** Received amounts by label. Includes the destinations that the wallet owns or watches. */
export class LabelSums extends RunningSums<Received> {
  private readonly sums = new Map<string, HeightSums>();

  constructor(wallet: Wallet) {
    super(wallet);
    this.touchAll();
  }

  protected override partOf({ height, isCoinbase, outputs }: Entry): Received | null {
    const { wallet } = this;
    if (isCoinbase) return null;
    const labelled: { to: string; valueSat: bigint; isPlain: boolean }[] = [];
    for (const { to, valueSat, isPlain } of outputs) {
      const label = to === '' ? undefined : wallet.book.at(to)?.label;
      if (label !== undefined && destinationFlags(wallet, to) !== MINE.no)
        labelled.push({ to: label, valueSat, isPlain });
    }
    return labelled.length === 0 ? null : { height, outputs: labelled };
  }

  protected override put({ height, outputs }: Received): void {
    for (const { to: label, valueSat } of outputs) {
      let sum = this.sums.get(label);
      if (sum === undefined) this.sums.set(label, (sum = new HeightSums()));
      sum.add(height, valueSat);
    }
  }

  protected override take({ height, outputs }: Received): void {
    for (const { to: label, valueSat } of outputs) {
      const sum = this.sums.get(label)!;
      sum.take(height, valueSat);
      if (sum.isEmpty) this.sums.delete(label);
    }
  }

  /** Amount in satoshis that a label received. Call `refresh` before. */
  receivedSat(label: string, minDepth: number): bigint {
    const { ledger, balanceOptions } = this.wallet;
    let sum = this.sums.get(label)?.upTo(this.heightOfDepth(minDepth))?.sumSat ?? 0n;
    for (const entry of this.rest()) {
      if (ledger.depth(entry) < minDepth || !balanceOptions.isFinal(entry)) continue;
      for (const { to, valueSat } of this.partOf(entry)?.outputs ?? []) if (to === label) sum += valueSat;
    }
    return sum;
  }
}

/** Amounts that a destination received. */
export interface DestinationSum {
  readonly sumSat: bigint;
  /** Amount in satoshis without claims, supports and bare public keys. */
  readonly plainSat: bigint;
  /** Number of confirmations of the latest payment; null if there was no payment. */
  readonly depth: number | null;
}

interface Sums {
  readonly all: HeightSums;
  readonly plain: HeightSums;
}

/** Received amounts by destination, only for destinations that were requested with `ask`. */
export class DestinationSums extends RunningSums<Received> {
  private readonly sums = new Map<string, Sums>();

  protected override partOf({ height, isCoinbase, outputs }: Entry): Received | null {
    if (isCoinbase) return null;
    const asked = outputs.filter(({ to }) => this.sums.has(to));
    return asked.length === 0 ? null : { height, outputs: asked };
  }

  protected override put(part: Received): void {
    this.book(part, 'add');
  }

  protected override take(part: Received): void {
    this.book(part, 'take');
  }

  private book({ height, outputs }: Received, how: 'add' | 'take'): void {
    for (const { to, valueSat, isPlain } of outputs) {
      const { all, plain } = this.sums.get(to)!;
      all[how](height, valueSat);
      if (isPlain) plain[how](height, valueSat);
    }
  }

  /** Starts to add up the payments to a destination. Call `refresh` before `received`. */
  ask(destination: string): void {
    if (this.sums.has(destination)) return;
    this.sums.set(destination, { all: new HeightSums(), plain: new HeightSums() });
    this.touchDestination(destination);
  }

  /** Amounts that a destination received. Call `refresh` before. */
  received(destination: string, minDepth: number): DestinationSum {
    const { ledger, balanceOptions } = this.wallet;
    const { all, plain } = this.sums.get(destination)!;
    const bound = this.heightOfDepth(minDepth);
    const confirmed = all.upTo(bound);
    let sumSat = confirmed?.sumSat ?? 0n;
    let plainSat = plain.upTo(bound)?.sumSat ?? 0n;
    let depth = confirmed === null ? null : this.wallet.followedHeight + 1 - confirmed.height;
    for (const entry of this.rest()) {
      if (entry.isCoinbase || ledger.depth(entry) < minDepth || !balanceOptions.isFinal(entry)) continue;
      for (const { to, valueSat, isPlain } of entry.outputs) {
        if (to !== destination) continue;
        sumSat += valueSat;
        if (isPlain) plainSat += valueSat;
        depth = Math.min(depth ?? Infinity, ledger.depth(entry));
      }
    }
    return { sumSat, plainSat, depth };
  }
}
