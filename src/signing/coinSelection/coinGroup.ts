/**
 * Coins that are spent together or not at all, and what makes them fit to be spent. Pure: no wallet and no chain. Source:
 * `OutputGroup`, `CoinEligibilityFilter`.
 */

/** An unspent output as selection sees it. */
export interface Selectable {
  readonly valueSat: bigint;
  /** Virtual size of the input that spends it, signed; −1 when no one knows. */
  readonly inputSizeBytes: number;
}

/** Depth and ancestors of a coin. */
export interface CoinStanding {
  /** Confirmations; 0 in the mempool. */
  readonly depth: number;
  /** Whether its transaction spends coins of the wallet. */
  readonly isFromMe: boolean;
  /** Relatives of its transaction in the mempool, itself counted; 0 when it is confirmed. */
  readonly ancestors: number;
  readonly descendants: number;
}

/** How well confirmed coins must be to be spent, and how long a chain of unconfirmed ones may get. */
export interface Eligibility {
  readonly minDepthMine: number;
  readonly minDepthTheirs: number;
  readonly maxAncestors: number;
  readonly maxDescendants: number;
}

/** Most coins of one destination in a group (`-avoidpartialspends`): more would make transactions too large. */
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
    // A transaction that spends all of them has at most this many ancestors, and the longest line of descendants is one
    // coin's.
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
