/**
 * Groups of coins that are spent only together, and the check whether a group is eligible for spending. The functions do not
 * access wallet or chain. Source: `OutputGroup`, `CoinEligibilityFilter`.
 */

/** An unspent output for coin selection. */
export interface Selectable {
  readonly valueSat: bigint;
  /** Virtual size in bytes of the signed input that spends the output; −1 if unknown. */
  readonly inputSizeBytes: number;
}

/** Number of confirmations, and mempool ancestors and descendants of a coin. */
export interface CoinStanding {
  /** Number of confirmations; 0 for a mempool transaction. */
  readonly depth: number;
  /** Whether the transaction that created the coin spends coins of the wallet. */
  readonly isFromMe: boolean;
  /** Number of mempool ancestors of the coin's transaction, including the transaction itself; 0 if it is confirmed. */
  readonly ancestors: number;
  /** Largest number of mempool descendants of an ancestor without unconfirmed parents, including that ancestor. */
  readonly descendants: number;
}

/** Minimum confirmations of a coin (own and foreign), and the maximum number of its unconfirmed ancestors and descendants. */
export interface Eligibility {
  readonly minDepthMine: number;
  readonly minDepthTheirs: number;
  readonly maxAncestors: number;
  readonly maxDescendants: number;
}

/**
 * Maximum number of coins in a group of one destination (`-avoidpartialspends`). Larger groups would make transactions too
 * large.
 */
export const GROUP_MAX_COINS = 10;

export class CoinGroup<C extends Selectable> {
  readonly coins: C[] = [];
  valueSat = 0n;
  private depth = 999;
  private isFromMe = true;
  private ancestors = 0;
  private descendants = 0;

  static of<C extends Selectable>(coin: C, standing: CoinStanding): CoinGroup<C> {
    const group = new CoinGroup<C>();
    group.add(coin, standing);
    return group;
  }

  add(coin: C, { depth, isFromMe, ancestors, descendants }: CoinStanding): void {
    this.coins.push(coin);
    this.valueSat += coin.valueSat;
    this.depth = Math.min(this.depth, depth);
    this.isFromMe &&= isFromMe;
    // The sum is an upper bound for the ancestors of a transaction that spends the whole group. For descendants the
    // maximum of the group's coins is used.
    this.ancestors += ancestors;
    this.descendants = Math.max(this.descendants, descendants);
  }

  isEligible({ minDepthMine, minDepthTheirs, maxAncestors, maxDescendants }: Eligibility): boolean {
    return (
      this.depth >= (this.isFromMe ? minDepthMine : minDepthTheirs) &&
      this.ancestors <= maxAncestors &&
      this.descendants <= maxDescendants
    );
  }
}
