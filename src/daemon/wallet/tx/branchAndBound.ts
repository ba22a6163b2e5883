/**
 * Coins that pay so exactly that no change is left, looked for depth first over including or leaving out each, largest first;
 * of equal waste the later wins. Where a coin was left out, an equal one would only give the same sums again and is left out
 * too, so that coins are decided on amount by amount: the first this many of each are taken. Tries are counted coin by coin
 * all the same, since what is found hangs on their limit. Source: lbry-sdk lbry/wallet/coinselection.py `branch_and_bound`.
 */
import { yieldIfDue } from '../../../scheduler/yield.js';
import type { Coin, CoinAmount, UtxoPool } from './utxoPool.js';

const MAX_TRIES = 100_000;
/** Steps between two looks at the time. */
const STEPS_AT_ONCE = 512;

/** Decision about coins with equal amounts. */
interface Decision {
  readonly effectiveAmount: bigint;
  readonly count: number;
  /** The first of these are taken, the others left out. */
  decided: number;
  taken: number;
}

export class BranchAndBound<C extends Coin> {
  readonly #pool: UtxoPool<C>;
  readonly #target: bigint;
  /** Largest useful sum: the target and the cost of change. */
  readonly #most: bigint;
  readonly #amounts: AmountReader<C>;
  readonly #decisions: Decision[] = [];
  /** Groups from which a coin is taken. */
  readonly #taken: Decision[] = [];
  #value = 0n;
  /** Sum of the undecided coins. */
  #available = 0n;
  #best: readonly CoinAmount[] = [];
  #bestWaste: bigint;
  tries: number;

  /** Amounts in dewies; `tries` is how many there were before. */
  constructor(pool: UtxoPool<C>, target: bigint, costOfChange: bigint, tries: number) {
    this.#pool = pool;
    this.#target = target;
    this.#most = target + costOfChange;
    this.#bestWaste = costOfChange;
    this.#amounts = new AmountReader(pool);
    this.tries = tries;
  }

  /** Selected coins; empty if nothing fits. */
  async run(): Promise<readonly CoinAmount[]> {
    if (await this.#leaveOutTooLarge()) return [];
    let since = performance.now();
    for (let step = 1; this.tries < MAX_TRIES; step++) {
      this.tries += 1;
      if (step % STEPS_AT_ONCE === 0) since = await yieldIfDue(since);
      const isBeyond = this.#value + this.#available < this.#target || this.#value > this.#most;
      if (!isBeyond && this.#value < this.#target) {
        const next = this.#next() ?? (await this.#readNext());
        if (next) this.#decide(next);
        // Coins went while they were read.
        else this.#available = 0n;
        continue;
      }
      if (!isBeyond && this.#value - this.#target <= this.#bestWaste) this.#note();
      if (!this.#goBack()) break;
    }
    return this.#best;
  }

  /**
   * Coins that alone are too much are left out one after the other: a try to take and one to leave out the first of each
   * amount, one for each further coin. Whether nothing can be found.
   */
  async #leaveOutTooLarge(): Promise<boolean> {
    const [all, tooLarge] = [await this.#pool.sum(), await this.#pool.above(this.#most)];
    const left = all - tooLarge.sum;
    this.#available = all;
    // With coins that cost more than they are worth it would end sooner.
    if (tooLarge.count === 0 || this.#target <= 0n || left < 0n) return false;
    const isTooLittle = left < this.#target;
    this.tries = Math.min(this.tries + tooLarge.count + tooLarge.amounts + Number(isTooLittle), MAX_TRIES);
    this.#amounts.startBelow(this.#most + 1n);
    this.#available = left;
    return isTooLittle;
  }

  /** The amount to decide on; undefined if it must be read first. */
  #next(): Decision | undefined {
    const last = this.#decisions.at(-1);
    if (last && last.decided < last.count) return last;
    return this.#begin(this.#amounts.at(this.#decisions.length));
  }

  async #readNext(): Promise<Decision | undefined> {
    return this.#begin(await this.#amounts.read(this.#decisions.length));
  }

  #begin(amount: CoinAmount | undefined): Decision | undefined {
    if (amount === undefined) return undefined;
    const decision: Decision = { ...amount, decided: 0, taken: 0 };
    this.#decisions.push(decision);
    return decision;
  }

  #decide(last: Decision): void {
    if (last.decided > last.taken) return this.#leaveOut(last);
    last.decided += 1;
    last.taken += 1;
    if (last.taken === 1) this.#taken.push(last);
    this.#available -= last.effectiveAmount;
    this.#value += last.effectiveAmount;
  }

  /** Leaves out equal coins until too little is left or the tries are used up. */
  #leaveOut(last: Decision): void {
    const { effectiveAmount, count, decided } = last;
    let coins = Math.min(count - decided, MAX_TRIES - this.tries + 1);
    if (effectiveAmount > 0n) {
      const most = (this.#value + this.#available - this.#target) / effectiveAmount + 1n;
      if (most < BigInt(coins)) coins = Number(most);
    }
    this.tries += coins - 1;
    last.decided += coins;
    this.#available -= effectiveAmount * BigInt(coins);
  }

  #note(): void {
    this.#bestWaste = this.#value - this.#target;
    this.#best = this.#taken.map(({ effectiveAmount, taken: count }) => ({ effectiveAmount, count }));
  }

  /** Leaves out the last coin that is taken; false if none is. */
  #goBack(): boolean {
    for (let last = this.#decisions.at(-1); last; last = this.#decisions.at(-1)) {
      this.#available += last.effectiveAmount * BigInt(last.decided - last.taken);
      last.decided = last.taken;
      if (last.taken > 0) {
        last.taken -= 1;
        this.#value -= last.effectiveAmount;
        if (last.taken === 0) this.#taken.pop();
        return true;
      }
      this.#decisions.pop();
    }
    return false;
  }
}

/** Amounts of a pool by their places, read as far as they are asked for. */
class AmountReader<C extends Coin> {
  readonly #pool: UtxoPool<C>;
  readonly #read: CoinAmount[] = [];
  #below: bigint | null = null;

  constructor(pool: UtxoPool<C>) {
    this.#pool = pool;
  }

  /** Amounts from there on do not count. Call it first. */
  startBelow(effectiveAmount: bigint): void {
    this.#below = effectiveAmount;
  }

  /** Undefined if it was not read. */
  at(place: number): CoinAmount | undefined {
    return this.#read[place];
  }

  /** Undefined behind the last one. */
  async read(place: number): Promise<CoinAmount | undefined> {
    while (this.#read.length <= place) {
      const more = await this.#pool.below(this.#below);
      if (more.length === 0) return undefined;
      this.#read.push(...more);
      this.#below = more.at(-1)!.effectiveAmount;
    }
    return this.#read[place];
  }
}
