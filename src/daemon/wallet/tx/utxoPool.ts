/** Coins from which those that pay are chosen, read by their amounts. */

/** Selected coins. */
export interface Coin {
  /** The amount less what spending it costs, dewies. */
  readonly effectiveAmount: bigint;
}

/** The number of coins that have that amount. */
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
  /** Coins with a larger amount. */
  above(effectiveAmount: bigint): Promise<CoinTotals>;
  /** The next amounts below that one, or from the largest on (null), largest first: as many as are at hand, at least one. */
  below(effectiveAmount: bigint | null): Promise<readonly CoinAmount[]>;
  /** The least amount from that one on; null if there is none. */
  leastFrom(effectiveAmount: bigint): Promise<bigint | null>;
  /** The first this many coins of an amount, in their order. */
  take(chosen: CoinAmount): Promise<readonly C[]>;
  /** All coins, in their order. */
  all(): Promise<readonly C[]>;
  /** Only coins whose transactions are in blocks. */
  confirmed(): UtxoPool<C>;
}
