/** Candidate coins for coin selection, read by amount. */

/** Selected coins. */
export interface Coin {
  /** Amount minus the cost of spending it, in dewies. */
  readonly effectiveAmount: bigint;
}

/** An amount with the number of its coins. */
export interface CoinAmount {
  readonly effectiveAmount: bigint;
  readonly count: number;
}

export interface CoinTotals {
  readonly count: number;
  /** Different amounts. */
  readonly amounts: number;
  /** Sum of effective amounts. */
  readonly sum: bigint;
}

/** Candidate coins, in an order that decides among equal ones. */
export interface UtxoPool<C extends Coin> {
  /** Sum of all coins. */
  sum(): Promise<bigint>;
  /** Totals of the coins with a larger amount. */
  above(effectiveAmount: bigint): Promise<CoinTotals>;
  /**
   * The next amounts below this one in descending order; null starts at the largest. Returns the available ones, at least
   * one.
   */
  below(effectiveAmount: bigint | null): Promise<readonly CoinAmount[]>;
  /** The smallest amount that is at least this one; null if there is none. */
  leastFrom(effectiveAmount: bigint): Promise<bigint | null>;
  /** The first coins of an amount, in their order. */
  take(chosen: CoinAmount): Promise<readonly C[]>;
  /** All coins, in their order. */
  all(): Promise<readonly C[]>;
  /** Pool of only the confirmed coins. */
  confirmed(): UtxoPool<C>;
}
