/**
 * Searches for coins that pay a target without change. It is a depth-first search that includes or excludes each coin,
 * largest first; with equal waste the later result wins. If a coin is excluded, other coins of the same amount would give
 * the same sums, so they are excluded too. For each amount, the search therefore decides only the number of coins to
 * include. Tries are still counted per coin, because the result depends on the limit of tries. Source: lbry-sdk
 * lbry/wallet/coinselection.py `branch_and_bound`.
 */
import { yieldIfDue } from '../../../scheduler/yield.js';
import type { Coin, CoinAmount, UtxoPool } from './utxoPool.js';

const MAX_TRIES = 100_000;
/** Number of search steps between two yields to the event loop. */
const STEPS_AT_ONCE = 512;

/** Decision about the coins that have one amount. */
interface Decision {
  readonly effectiveAmount: bigint;
  readonly count: number;
  /**
   * `decided`: number of coins about which the search has decided so far. `taken`: number of these coins that are included;
   * the others are excluded.
   */
  decided: number;
  taken: number;
}

export class BranchAndBound<C extends Coin> {
  readonly #pool: UtxoPool<C>;
  readonly #target: bigint;
  /** Largest accepted sum of effective amounts: target plus cost of change, in dewies. */
  readonly #most: bigint;
  readonly #amounts: AmountReader<C>;
  readonly #decisions: Decision[] = [];
  /** Decisions with at least one included coin. */
  readonly #taken: Decision[] = [];
  #value = 0n;
  /** Sum of the effective amounts of the coins that are neither included nor excluded yet. */
  #available = 0n;
  #best: readonly CoinAmount[] = [];
  #bestWaste: bigint;
  tries: number;

  /** Prepares a search. Amounts are in dewies. `tries` is the number of tries that earlier searches have used. */
  constructor(pool: UtxoPool<C>, target: bigint, costOfChange: bigint, tries: number) {
    this.#pool = pool;
    this.#target = target;
    this.#most = target + costOfChange;
    this.#bestWaste = costOfChange;
    this.#amounts = new AmountReader(pool);
    this.tries = tries;
  }

  /** Runs the search. Resolves to the selected coins; empty if no selection matches. */
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
        // No amount below the last one could be read, although coins should remain: they were spent during the search.
        else this.#available = 0n;
        continue;
      }
      if (!isBeyond && this.#value - this.#target <= this.#bestWaste) this.#note();
      if (!this.#goBack()) break;
    }
    return this.#best;
  }

  /**
   * Excludes the coins whose amount alone exceeds the largest accepted sum. The number of tries is the same as in a search:
   * two for the first coin of each amount and one for each other coin. Resolves to true if the remaining coins cannot pay
   * the target.
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

  /** Returns the next amount to decide about; undefined if it has not been read yet. */
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

  /** Excludes further coins of the amount of `last`, until the remaining coins cannot pay the target or all tries are used. */
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

/** Amounts of a pool of coins by index, read from the pool when needed. */
class AmountReader<C extends Coin> {
  readonly #pool: UtxoPool<C>;
  readonly #read: CoinAmount[] = [];
  #below: bigint | null = null;

  constructor(pool: UtxoPool<C>) {
    this.#pool = pool;
  }

  /** Excludes amounts that are not below `effectiveAmount`. Must be called before the first read. */
  startBelow(effectiveAmount: bigint): void {
    this.#below = effectiveAmount;
  }

  /** Returns the amount at an index; undefined if it has not been read yet. */
  at(place: number): CoinAmount | undefined {
    return this.#read[place];
  }

  /** Reads the amount at an index. Resolves to undefined after the last amount. */
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
