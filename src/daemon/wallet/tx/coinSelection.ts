/**
 * Coin selection strategies of lbry-sdk. Each selects the same coins in the same order as lbry-sdk for the same candidates
 * and random numbers. Only the amounts needed for the selection are read. Source: lbry-sdk lbry/wallet/coinselection.py.
 */
import { yieldIfDue } from '../../../scheduler/yield.js';
import { inSlices } from '../../../scheduler/slices.js';
import { sortedInSlices } from '../../../util/slices.js';
import { BranchAndBound } from './branchAndBound.js';
import type { Coin, UtxoPool } from './utxoPool.js';

export const SELECTION_STRATEGIES = [
  'sqlite',
  'prefer_confirmed',
  'only_confirmed',
  'standard',
  'branch_and_bound',
  'closest_match',
  'random_draw',
] as const;

export type SelectionStrategy = (typeof SELECTION_STRATEGIES)[number];

/** Number of random draws between two yields to the event loop. */
const DRAWS_AT_ONCE = 512;

/** One run of coin selection. The number of tries of branch and bound is limited for all its searches together. */
export class CoinSelector<C extends Coin> {
  readonly #target: bigint;
  readonly #costOfChange: bigint;
  readonly #random: () => number;
  /** Whether branch and bound selected coins that need no change. */
  isExactMatch = false;
  tries = 0;

  /** Creates the selector. `random` returns numbers from 0 (inclusive) to 1 (exclusive). Amounts are in dewies. */
  constructor(target: bigint, costOfChange: bigint, random: () => number) {
    this.#target = target;
    this.#costOfChange = costOfChange;
    this.#random = random;
  }

  /**
   * Selects coins that pay the target; empty if that is impossible. The strategy `sqlite` is implemented separately, by
   * `chooseByBands`.
   */
  async select(pool: UtxoPool<C>, strategy: Exclude<SelectionStrategy, 'sqlite'>): Promise<readonly C[]> {
    if (!(await this.#isEnough(pool))) return [];
    switch (strategy) {
      case 'prefer_confirmed': {
        const confirmed = await this.#onlyConfirmed(pool);
        return confirmed.length > 0 ? confirmed : this.#standard(pool);
      }
      case 'only_confirmed':
        return this.#onlyConfirmed(pool);
      case 'standard':
        return this.#standard(pool);
      case 'branch_and_bound':
        return this.#branchAndBound(pool);
      case 'closest_match':
        return this.#closestMatch(pool);
      case 'random_draw':
        return this.#randomDraw(await pool.all());
    }
  }

  async #isEnough(pool: UtxoPool<C>): Promise<boolean> {
    if (this.#target <= 0n && (await pool.below(null)).length === 0) return false;
    return this.#target <= (await pool.sum());
  }

  async #onlyConfirmed(pool: UtxoPool<C>): Promise<readonly C[]> {
    const confirmed = pool.confirmed();
    return (await this.#isEnough(confirmed)) ? this.#standard(confirmed) : [];
  }

  async #standard(pool: UtxoPool<C>): Promise<readonly C[]> {
    const exact = await this.#branchAndBound(pool);
    if (exact.length > 0) return exact;
    const single = await this.#closestMatch(pool);
    return single.length > 0 ? single : this.#randomDraw(await inAmounts(await pool.all()));
  }

  async #branchAndBound(pool: UtxoPool<C>): Promise<readonly C[]> {
    const search = new BranchAndBound(pool, this.#target, this.#costOfChange, this.tries);
    const found = await search.run();
    this.tries = search.tries;
    if (found.length > 0) this.isExactMatch = true;
    const coins: C[] = [];
    for (const one of found) coins.push(...(await pool.take(one)));
    return coins;
  }

  /** Selects the smallest coin that is enough for the target and the cost of change; empty if there is none. */
  async #closestMatch(pool: UtxoPool<C>): Promise<readonly C[]> {
    const effectiveAmount = await pool.leastFrom(this.#target + this.#costOfChange);
    return effectiveAmount === null ? [] : pool.take({ effectiveAmount, count: 1 });
  }

  async #randomDraw(coins: readonly C[]): Promise<C[]> {
    const target = this.#target + this.#costOfChange;
    const drawn = [...coins];
    let since = performance.now();
    for (let last = drawn.length - 1; last > 0; last--) {
      const other = Math.floor(this.#random() * (last + 1));
      [drawn[last], drawn[other]] = [drawn[other]!, drawn[last]!];
      if (last % DRAWS_AT_ONCE === 0) since = await yieldIfDue(since);
    }
    let sum = 0n;
    const enough = drawn.findIndex(({ effectiveAmount }) => (sum += effectiveAmount) >= target);
    return enough < 0 ? [] : drawn.slice(0, enough + 1);
  }
}

const largerFirst = (a: Coin, b: Coin): number =>
  a.effectiveAmount === b.effectiveAmount ? 0 : a.effectiveAmount < b.effectiveAmount ? 1 : -1;

/** Sorts coins by descending amount. Coins of equal amount keep their order. */
function inAmounts<C extends Coin>(coins: readonly C[]): Promise<C[]> {
  return inSlices(sortedInSlices(coins, largerFirst));
}

/** Additional coin data for the strategy `sqlite`. */
export interface BandedCoin extends Coin {
  /** Height of the block with the coin's transaction; 0 or less if unconfirmed. */
  readonly height: number;
  readonly amountDewies: bigint;
  /** Whether a merkle branch proves the coin's transaction. */
  readonly isVerified: boolean;
  /** Id or database number of the transaction that created the coin. */
  readonly tx: number | string;
}

const BAND_FACTOR = 100n;
const MAX_EMPTY_BANDS = 5;
const MAX_INTEGER = 2n ** 63n - 1n;

/**
 * Selects small coins first, in bands of amounts, with verified coins first in each band. The selected coins are then
 * grouped by transaction, in order of first appearance. Source: lbry-sdk lbry/wallet/database.py
 * `get_and_reserve_spendable_utxos`.
 */
export function chooseByBands<C extends BandedCoin>(
  candidates: readonly C[],
  target: bigint,
  floor: bigint,
): C[] {
  const coins = candidates.toSorted((a, b) =>
    a.amountDewies === b.amountDewies ? b.height - a.height : a.amountDewies < b.amountDewies ? -1 : 1,
  );
  const chosen: C[] = [];
  let sum = 0n;
  let [low, factor, emptyBands] = [floor, BAND_FACTOR, 0];
  while (sum < target && emptyBands < MAX_EMPTY_BANDS && low * factor < MAX_INTEGER) {
    const high = low * factor;
    const before = sum;
    const band = coins.filter(({ amountDewies }) => amountDewies >= low && amountDewies < high);
    for (const coin of [...band.filter((c) => c.isVerified), ...band.filter((c) => !c.isVerified)]) {
      if (sum >= target) break;
      sum += coin.effectiveAmount;
      chosen.push(coin);
    }
    low = high;
    const isEmpty = sum === before;
    emptyBands = isEmpty ? emptyBands + 1 : 0;
    factor = isEmpty ? factor ** 2n : BAND_FACTOR;
  }
  if (sum < target) return [];
  const byTransaction = new Map<number | string, C[]>();
  for (const coin of chosen) {
    const others = byTransaction.get(coin.tx);
    if (others) others.push(coin);
    else byTransaction.set(coin.tx, [coin]);
  }
  return [...byTransaction.values()].flat();
}
