/**
 * Searches for coins that pay a target without change. It is a depth-first search that includes or excludes each coin,
 * largest first; with equal waste the later result wins. If a coin is excluded, further coins of the same amount would give
 * the same sums and are excluded too. For each amount, the search therefore decides only how many of its coins to include.
 * Tries are still counted per coin, because the result depends on their limit. Source: lbry-sdk lbry/wallet/coinselection.py
 * `branch_and_bound`.
 */
import { yieldIfDue } from '../../../scheduler/yield.js';
import type { Coin, CoinAmount, UtxoPool } from './utxoPool.js';

const MAX_TRIES = 100_000;
/** Number of search steps between two checks whether other tasks must run. */
const STEPS_AT_ONCE = 512;

/** Decision about the coins of one amount. */
interface Decision {
  readonly effectiveAmount: bigint;
  readonly count: number;
  /** `decided` is the number of coins decided so far. `taken` is the number of these that are included; the rest is excluded. */
  decided: number;
  taken: number;
}

export class BranchAndBound<C extends Coin> {
  readonly #pool: UtxoPool<C>;
  readonly #target: bigint;
  /** Largest sum that is accepted: target plus cost of change. */
  readonly #most: bigint;
  readonly #amounts: AmountReader<C>;
  readonly #decisions: Decision[] = [];
  /** Decisions with at least one included coin. */
  readonly #taken: Decision[] = [];
  #value = 0n;
  /** Sum of the effective amounts of all undecided coins. */
  #available = 0n;
  #best: readonly CoinAmount[] = [];
  #bestWaste: bigint;
  tries: number;

  /** Amounts are in dewies. `tries` is the number of tries that earlier searches used. */
  constructor(pool: UtxoPool<C>, target: bigint, costOfChange: bigint, tries: number) {
    this.#pool = pool;
    this.#target = target;
    this.#most = target + costOfChange;
    this.#bestWaste = costOfChange;
    this.#amounts = new AmountReader(pool);
    this.tries = tries;
  }

  /** Runs the search. Resolves to the selected coins; empty if no selection fits. */
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
        // No further amount could be read although coins should remain: they were spent during the search.
        else this.#available = 0n;
        continue;
      }
      if (!isBeyond && this.#value - this.#target <= this.#bestWaste) this.#note();
      if (!this.#goBack()) break;
    }
    return this.#best;
  }

  /**
   * Excludes the coins whose amount alone exceeds the largest accepted sum. As in a search, this counts two tries for the
   * first coin of each amount and one try for each further coin. Resolves to true if the remaining coins cannot pay the
   * target.
   */
  async #leaveOutTooLarge(): Promise<boolean> {
    const [all, tooLarge] = [await this.#pool.sum(), await this.#pool.above(this.#most)];
    const left = all - tooLarge.sum;
    this.#available = all;
    // This shortcut is not valid if coins cost more than their amount (the remaining sum is negative), because the search
    // would end sooner with them.
    if (tooLarge.count === 0 || this.#target <= 0n || left < 0n) return false;
    const isTooLittle = left < this.#target;
    this.tries = Math.min(this.tries + tooLarge.count + tooLarge.amounts + Number(isTooLittle), MAX_TRIES);
    this.#amounts.startBelow(this.#most + 1n);
    this.#available = left;
    return isTooLittle;
  }

  /** Next amount to decide; undefined if it is not read yet. */
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

  /** Excludes coins of the last amount, until the remaining coins cannot pay the target or the tries are used up. */
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

  /** Backtracks: excludes the coin that was included last. Returns false if no coin is included. */
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

/** Amounts of a pool by index, read on demand. */
class AmountReader<C extends Coin> {
  readonly #pool: UtxoPool<C>;
  readonly #read: CoinAmount[] = [];
  #below: bigint | null = null;

  constructor(pool: UtxoPool<C>) {
    this.#pool = pool;
  }

  /** Ignores amounts that are not below this one. Must be called before the first read. */
  startBelow(effectiveAmount: bigint): void {
    this.#below = effectiveAmount;
  }

  /** Amount at an index; undefined if it was not read yet. */
  at(place: number): CoinAmount | undefined {
    return this.#read[place];
  }

  /** Reads the amount at an index; undefined after the last one. */
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
