/** Pool of candidate coins for coin selection. Coins are read by amount, on demand. */

/** Selected coins. */
export interface Coin {
  /** Amount minus the fee for spending the coin, in dewies. */
  readonly effectiveAmount: bigint;
}

/** An effective amount with the number of coins that have it. */
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

/** Candidate coins. Their order decides between coins of equal amount. */
export interface UtxoPool<C extends Coin> {
  /** Sum of the effective amounts of all coins. */
  sum(): Promise<bigint>;
  /** Totals of the coins whose effective amount is above the given one. */
  above(effectiveAmount: bigint): Promise<CoinTotals>;
  /**
   * The largest effective amounts below the given one, in descending order; null starts at the largest. Returns a part of
   * them, but at least one if there is any.
   */
  below(effectiveAmount: bigint | null): Promise<readonly CoinAmount[]>;
  /** The smallest effective amount that is at least the given one; null if there is none. */
  leastFrom(effectiveAmount: bigint): Promise<bigint | null>;
  /** Reads the first `count` coins of an amount, in the order of the pool. */
  take(chosen: CoinAmount): Promise<readonly C[]>;
  /** Reads all coins, in the order of the pool. */
  all(): Promise<readonly C[]>;
  /** Returns a pool with only the confirmed coins. */
  confirmed(): UtxoPool<C>;
}
