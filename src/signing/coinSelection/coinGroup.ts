/**
 * Groups of coins that are spent only together, and their eligibility for spending. Pure: independent of wallet and chain.
 * Source: `OutputGroup`, `CoinEligibilityFilter`.
 */

/** An unspent output for coin selection. */
export interface Selectable {
  readonly valueSat: bigint;
  /** Virtual size of the signed input that spends it; −1 if unknown. */
  readonly inputSizeBytes: number;
}

/** Confirmations and mempool ancestors of a coin. */
export interface CoinStanding {
  /** Confirmations; 0 in the mempool. */
  readonly depth: number;
  /** Whether its transaction spends coins of the wallet. */
  readonly isFromMe: boolean;
  /** Mempool ancestors of its transaction, including itself; 0 if it is confirmed. */
  readonly ancestors: number;
  readonly descendants: number;
}

/** The required confirmations of coins, and the maximum length of a chain of unconfirmed ones. */
export interface Eligibility {
  readonly minDepthMine: number;
  readonly minDepthTheirs: number;
  readonly maxAncestors: number;
  readonly maxDescendants: number;
}

/** Maximum number of coins of one destination in a group (`-avoidpartialspends`): more would make transactions too large. */
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
    // A transaction that spends the whole group has at most this many ancestors. For descendants, the maximum over its
    // coins is used.
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
