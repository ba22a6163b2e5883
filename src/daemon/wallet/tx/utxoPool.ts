/** Pool of candidate coins for coin selection. Coins are read by amount, when they are needed. */

/** Selected coins. */
export interface Coin {
  /** Amount minus the fee for spending the coin, in dewies. */
  readonly effectiveAmount: bigint;
}

/** An effective amount (the amount minus the fee for spending the coin), and the number of coins that have it. */
export interface CoinAmount {
  readonly effectiveAmount: bigint;
  readonly count: number;
}

export interface CoinTotals {
  readonly count: number;
  /** Number of different amounts. */
  readonly amounts: number;
  /** Sum of the effective amounts of the coins. */
  readonly sum: bigint;
}

/** Candidate coins. The order of the pool decides between coins of equal amount. */
export interface UtxoPool<C extends Coin> {
  /** Sum of the effective amounts of all coins. */
  sum(): Promise<bigint>;
  /** Returns the totals of the coins whose effective amount is above `effectiveAmount`. */
  above(effectiveAmount: bigint): Promise<CoinTotals>;
  /**
   * Returns the largest effective amounts below `effectiveAmount` (null: of all), in descending order. The result may be
   * incomplete, but has at least one amount if any exists.
   */
  below(effectiveAmount: bigint | null): Promise<readonly CoinAmount[]>;
  /** Returns the smallest effective amount that is at least `effectiveAmount`; null if there is none. */
  leastFrom(effectiveAmount: bigint): Promise<bigint | null>;
  /** Reads the first `count` coins of an amount, in the order of the pool. */
  take(chosen: CoinAmount): Promise<readonly C[]>;
  /** Reads all coins, in the order of the pool. */
  all(): Promise<readonly C[]>;
  /** Returns a pool with only the confirmed coins. */
  confirmed(): UtxoPool<C>;
}
