/**
 * Computes the received amounts of lbcwallet accounts: the sum of all payments to keys of an account. The sums are updated
 * incrementally. Source: lbcwallet wallet/wallet.go `TotalReceivedForAccounts`, `TotalReceivedForAddr`.
 */
import { MINE } from '../keys/isMine.js';
import type { Entry } from '../ledger/entry.js';
import { HeightSums } from '../listing/heightSums.js';
import { RunningSums } from '../listing/runningSums.js';
import type { Wallet } from '../wallet.js';
import { DEFAULT_ACCOUNT } from './accounts.js';
import { assignedOf } from './assigned.js';
import { isAlive } from './coins.js';

interface Received {
  readonly height: number;
  readonly outputs: readonly (readonly [account: number, sat: bigint])[];
}

/** Amount that an account received. `depth`: number of confirmations of the latest payment; 0 without a payment. */
export interface AccountReceived {
  readonly sumSat: bigint;
  readonly depth: number;
}

class ReceivedSums extends RunningSums<Received> {
  private readonly sums = new Map<number, HeightSums>();

  constructor(wallet: Wallet) {
    super(wallet);
    this.touchAll();
  }

  protected override partOf({ height, outputs }: Entry): Received | null {
    const assigned = assignedOf(this.wallet);
    const own = outputs
      .filter(({ mine }) => (mine & MINE.spendable) !== 0)
      .map(({ to, valueSat }) => [assigned.accountOf(to) ?? DEFAULT_ACCOUNT, valueSat] as const);
    return own.length === 0 ? null : { height, outputs: own };
  }

  protected override put({ height, outputs }: Received): void {
    for (const [account, sat] of outputs) {
      let sum = this.sums.get(account);
      if (sum === undefined) this.sums.set(account, (sum = new HeightSums()));
      sum.add(height, sat);
    }
  }

  protected override take({ height, outputs }: Received): void {
    for (const [account, sat] of outputs) this.sums.get(account)!.take(height, sat);
  }

  /** Amount that an account received with at least `minDepth` confirmations. Call `refresh` before. */
  received(account: number, minDepth: number): AccountReceived {
    const { ledger, followedHeight } = this.wallet;
    const confirmed = this.sums.get(account)?.upTo(this.heightOfDepth(minDepth)) ?? null;
    let sumSat = confirmed?.sumSat ?? 0n;
    let depth = confirmed === null ? Infinity : followedHeight + 1 - confirmed.height;
    for (const entry of this.rest()) {
      if (!isAlive(entry) || ledger.depth(entry) < minDepth) continue;
      for (const [owner, sat] of this.partOf(entry)?.outputs ?? []) {
        if (owner !== account) continue;
        sumSat += sat;
        depth = Math.min(depth, ledger.depth(entry));
      }
    }
    return { sumSat, depth: depth === Infinity ? 0 : depth };
  }
}

const OPEN = new WeakMap<Wallet, ReceivedSums>();

/** Received amounts of an open wallet. Computed when they are first needed. */
export function receivedSumsOf(wallet: Wallet): ReceivedSums {
  let sums = OPEN.get(wallet);
  if (sums === undefined) OPEN.set(wallet, (sums = new ReceivedSums(wallet)));
  return sums;
}
