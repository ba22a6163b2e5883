/**
 * Which coins pay for a transaction: the strategies of lbry-sdk, pure. Each gives the same coins in the same order for the
 * same candidates and the same draws. Source: lbry-sdk lbry/wallet/coinselection.py; sdk-facts 5.4.
 */
import { sortedInSlices, type Slices } from '../../../util/slices.js';

/** What is chosen from. */
export interface Coin {
  /** The amount less what spending it costs, dewies. */
  readonly effectiveAmount: bigint;
  /** Of its transaction; above 0 in a block. */
  readonly height: number;
}

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

const MAX_TRIES = 100_000;
/** Tries of branch and bound between two yields. */
const TRIES_A_STEP = 2048;

function sumOf(coins: readonly Coin[]): bigint {
  return coins.reduce((sum, { effectiveAmount }) => sum + effectiveAmount, 0n);
}

/** One choice; the tries of branch and bound count over all rounds of it. */
export class CoinSelector<C extends Coin> {
  readonly #target: bigint;
  readonly #costOfChange: bigint;
  readonly #random: () => number;
  /** Whether branch and bound found coins that need no change. */
  isExactMatch = false;
  tries = 0;

  /** `random` gives numbers from 0 to below 1; amounts in dewies. */
  constructor(target: bigint, costOfChange: bigint, random: () => number) {
    this.#target = target;
    this.#costOfChange = costOfChange;
    this.#random = random;
  }

  /** Coins that pay the target, or none. `sqlite` chooses by `chooseByBands` and is not known here. */
  *select(candidates: readonly C[], strategy: Exclude<SelectionStrategy, 'sqlite'>): Slices<C[]> {
    if (candidates.length === 0 || this.#target > sumOf(candidates)) return [];
    const coins = [...candidates];
    switch (strategy) {
      case 'prefer_confirmed': {
        const confirmed = yield* this.#onlyConfirmed(coins);
        return confirmed.length > 0 ? confirmed : yield* this.#standard(coins);
      }
      case 'only_confirmed':
        return yield* this.#onlyConfirmed(coins);
      case 'standard':
        return yield* this.#standard(coins);
      case 'branch_and_bound':
        return yield* this.#branchAndBound(yield* sorted(coins));
      case 'closest_match':
        return this.#closestMatch(coins);
      case 'random_draw':
        return this.#randomDraw(coins);
    }
  }

  *#onlyConfirmed(coins: readonly C[]): Slices<C[]> {
    const confirmed = coins.filter(({ height }) => height > 0);
    return this.#target > sumOf(confirmed) ? [] : yield* this.#standard(confirmed);
  }

  *#standard(coins: readonly C[]): Slices<C[]> {
    if (coins.length === 0) return [];
    const byAmount = yield* sorted(coins);
    const exact = yield* this.#branchAndBound(byAmount);
    if (exact.length > 0) return exact;
    const single = this.#closestMatch(byAmount);
    return single.length > 0 ? single : this.#randomDraw(byAmount);
  }

  /** Depth first over including or leaving out each coin, largest first; of equal waste the later wins. */
  *#branchAndBound(coins: readonly C[]): Slices<C[]> {
    let value = 0n;
    let available = sumOf(coins);
    const chosen: boolean[] = [];
    let best: boolean[] = [];
    let bestWaste = this.#costOfChange;
    const amountAt = (at: number): bigint => coins[at]!.effectiveAmount;
    while (this.tries < MAX_TRIES) {
      this.tries += 1;
      if (this.tries % TRIES_A_STEP === 0) yield;
      const isBeyond = value + available < this.#target || value > this.#target + this.#costOfChange;
      if (!isBeyond && value < this.#target) {
        const at = chosen.length;
        available -= amountAt(at);
        // Where an equal coin was left out, this one would only give the same sums again.
        const isRepeated = chosen[at - 1] === false && amountAt(at) === amountAt(at - 1);
        chosen.push(!isRepeated);
        if (!isRepeated) value += amountAt(at);
        continue;
      }
      const waste = value - this.#target;
      if (!isBeyond && waste <= bestWaste) {
        bestWaste = waste;
        best = [...chosen];
      }
      while (chosen.at(-1) === false) {
        chosen.pop();
        available += amountAt(chosen.length);
      }
      if (chosen.length === 0) break;
      chosen[chosen.length - 1] = false;
      value -= amountAt(chosen.length - 1);
    }
    if (best.length > 0) this.isExactMatch = true;
    return coins.filter((_, at) => best[at] === true);
  }

  /** The smallest coin that alone pays the target and its change. */
  #closestMatch(coins: readonly C[]): C[] {
    const target = this.#target + this.#costOfChange;
    let best: C | null = null;
    for (const coin of coins)
      if (coin.effectiveAmount >= target && (best === null || coin.effectiveAmount < best.effectiveAmount))
        best = coin;
    return best === null ? [] : [best];
  }

  #randomDraw(coins: readonly C[]): C[] {
    const target = this.#target + this.#costOfChange;
    const drawn = [...coins];
    for (let last = drawn.length - 1; last > 0; last--) {
      const other = Math.floor(this.#random() * (last + 1));
      [drawn[last], drawn[other]] = [drawn[other]!, drawn[last]!];
    }
    let sum = 0n;
    const enough = drawn.findIndex(({ effectiveAmount }) => (sum += effectiveAmount) >= target);
    return enough < 0 ? [] : drawn.slice(0, enough + 1);
  }
}

/** Largest first, equal ones in their order. */
function sorted<C extends Coin>(coins: readonly C[]): Slices<C[]> {
  return sortedInSlices(coins, (a, b) =>
    a.effectiveAmount === b.effectiveAmount ? 0 : a.effectiveAmount < b.effectiveAmount ? 1 : -1,
  );
}

/** What the strategy `sqlite` needs to know besides. */
export interface BandedCoin extends Coin {
  readonly amountDewies: bigint;
  /** Whether its merkle branch was checked. */
  readonly isVerified: boolean;
  /** What its transaction is known by. */
  readonly tx: number | string;
}

const BAND_FACTOR = 100n;
const MAX_EMPTY_BANDS = 5;
const MAX_INTEGER = 2n ** 63n - 1n;

/**
 * Small coins first, in bands of amounts, verified ones of a band before the others; then by transaction in the order in
 * which these were met. Source: lbry-sdk lbry/wallet/database.py `get_and_reserve_spendable_utxos`.
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
