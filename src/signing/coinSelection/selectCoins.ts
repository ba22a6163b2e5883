/**
 * Selects the coins to pay with: confirmed coins first, then own change, then coins with more and more unconfirmed
 * ancestors. Source: `CWallet::SelectCoins`, `SelectCoinsMinConf`.
 */
import { branchAndBound, type WeighedGroup } from './branchAndBound.js';
import type { CoinGroup } from './coinGroup.js';
import { type Eligibility, type Selectable } from './coinGroup.js';
import { knapsack } from './knapsack.js';
import type { Chance } from './random.js';

export interface SelectionOptions {
  /** Whether the wallet's own change may be spent before it is confirmed (`-spendzeroconfchange`). */
  readonly spendsUnconfirmedChange: boolean;
  /** Limits of ancestors and descendants in the mempool (`-limitancestorcount`, `-limitdescendantcount`). */
  readonly maxAncestors: number;
  readonly maxDescendants: number;
  /** Whether coins that would exceed the limits `maxAncestors` and `maxDescendants` are excluded (`-walletrejectlongchains`). */
  readonly rejectsLongChains: boolean;
}

/** Fees for a payment without change. The functions return a fee in satoshis for a virtual size in bytes. */
export interface ExactPayment {
  feeFor(sizeBytes: number): bigint;
  /** Returns the fee at the long-term rate, at which a transaction confirms within a week. */
  longTermFeeFor(sizeBytes: number): bigint;
  /** Cost in satoshis of creating a change output and spending it later. */
  readonly costOfChangeSat: bigint;
  /** Fee in satoshis for the transaction without its inputs. */
  readonly baseFeeSat: bigint;
}

export interface Selection<C> {
  readonly coins: readonly C[];
  readonly valueSat: bigint;
}

/** The eligibility rules that are tried in turn, from strict to lenient. */
function* eligibilities(options: SelectionOptions): Generator<Eligibility> {
  const mostAncestors = Math.max(1, options.maxAncestors);
  const mostDescendants = Math.max(1, options.maxDescendants);
  const upTo = (
    minDepthMine: number,
    minDepthTheirs: number,
    ancestors: number,
    descendants = ancestors,
  ) => ({
    minDepthMine,
    minDepthTheirs,
    maxAncestors: ancestors,
    maxDescendants: descendants,
  });
  yield upTo(1, 6, 0);
  yield upTo(1, 1, 0);
  if (!options.spendsUnconfirmedChange) return;
  yield upTo(0, 1, 2);
  const third = (most: number): number => Math.min(4, Math.floor(most / 3));
  yield upTo(0, 1, third(mostAncestors), third(mostDescendants));
  yield upTo(0, 1, Math.floor(mostAncestors / 2), Math.floor(mostDescendants / 2));
  yield upTo(0, 1, mostAncestors - 1, mostDescendants - 1);
  if (!options.rejectsLongChains) yield upTo(0, 1, Infinity);
}

/**
 * Selects coins worth at least `targetSat`. With `exact`, the selected coins need no change, and also pay the fees for their
 * inputs and the rest of the transaction. Null if no such coins exist.
 */
export function selectCoins<C extends Selectable>(
  groups: readonly CoinGroup<C>[],
  targetSat: bigint,
  options: SelectionOptions,
  exact: ExactPayment | null,
  chance: Chance,
): Selection<C> | null {
  let tried: readonly CoinGroup<C>[] | null = null;
  for (const eligibility of eligibilities(options)) {
    const eligible = groups.filter((group) => group.isEligible(eligibility));
    // The previous rules selected the same eligible coins, which were insufficient.
    if (tried !== null && isSame(tried, eligible)) continue;
    tried = eligible;
    const coins =
      exact === null
        ? knapsack(targetSat, eligible, chance)?.flatMap((group) => group.coins)
        : exactCoins(eligible, targetSat, exact);
    if (coins !== undefined && coins !== null) {
      return { coins, valueSat: coins.reduce((sum, { valueSat }) => sum + valueSat, 0n) };
    }
  }
  return null;
}

function isSame<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((one, i) => one === b[i]);
}

interface PaidGroup<C> extends WeighedGroup {
  readonly coins: readonly C[];
}

function exactCoins<C extends Selectable>(
  groups: readonly CoinGroup<C>[],
  targetSat: bigint,
  exact: ExactPayment,
): C[] | null {
  const weighed = groups.map((group) => weigh(group, exact)).filter(({ effectiveSat }) => effectiveSat > 0n);
  const found = branchAndBound(weighed, targetSat + exact.baseFeeSat, exact.costOfChangeSat);
  return found === null ? null : found.flatMap(({ coins }) => coins);
}

/** Reduces a group to the coins that are worth more than the fees for spending them. */
function weigh<C extends Selectable>(group: CoinGroup<C>, exact: ExactPayment): PaidGroup<C> {
  const coins: C[] = [];
  let effectiveSat = 0n;
  let feeSat = 0n;
  let longTermFeeSat = 0n;
  for (const coin of group.coins) {
    const fee = coin.inputSizeBytes < 0 ? 0n : exact.feeFor(coin.inputSizeBytes);
    if (coin.valueSat <= fee) continue;
    coins.push(coin);
    effectiveSat += coin.valueSat - fee;
    feeSat += fee;
    longTermFeeSat += coin.inputSizeBytes < 0 ? 0n : exact.longTermFeeFor(coin.inputSizeBytes);
  }
  return { coins, effectiveSat, feeSat, longTermFeeSat };
}
