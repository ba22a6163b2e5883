/**
 * Outputs that transactions of a generated chain can spend: a sample of limited size. Outputs outside the sample are never
 * spent.
 */
import type { ClaimKind } from '../../script/claimScript.js';
import type { Draw } from './draw.js';
import type { Key } from './keyRing.js';

/**
 * An output that a key of the ring can spend. Bytes are stored as latin1 strings, because a small buffer is a view and would
 * keep a whole memory block in use.
 */
export interface PoolCoin {
  readonly txKey: string;
  readonly n: number;
  readonly amountSat: number;
  readonly key: Key;
  readonly isWitness: boolean;
  /** The claim or support in the output; null for other outputs. */
  readonly stake: Stake | null;
}

/** Data of an output that is a claim or a support. */
export interface Stake {
  readonly kind: ClaimKind;
  readonly hasMetadata: boolean;
  readonly nameKey: string;
  readonly idKey: string;
  readonly height: number;
  /** Script of the output, as latin1. */
  readonly scriptKey: string;
  /** Key with which a channel signs. Null if the claim is not a channel. */
  readonly channelKey: Key | null;
}

/** A coin that is a claim or a support. */
export type StakeCoin = PoolCoin & { readonly stake: Stake };

/** A channel with its signing key. */
export interface Channel {
  readonly idKey: string;
  readonly key: Key;
}

/** A set of limited size for random selection. If it is full, a new item replaces a random item. */
export class Pool<T> {
  private readonly items: T[] = [];
  private readonly draw: Draw;
  private readonly most: number;

  constructor(draw: Draw, most: number) {
    this.draw = draw;
    this.most = most;
  }

  get size(): number {
    return this.items.length;
  }

  add(item: T): void {
    if (this.items.length < this.most) this.items.push(item);
    else this.items[this.draw.below(this.most)] = item;
  }

  /** Returns a random item without removing it; undefined if the pool is empty. */
  any(): T | undefined {
    return this.items[this.draw.below(this.items.length)];
  }

  /** Removes and returns a random item; undefined if the pool is empty. */
  take(): T | undefined {
    return this.takeAt(this.draw.below(this.items.length));
  }

  /** Removes and returns the last item; undefined if the pool is empty. */
  takeNewest(): T | undefined {
    return this.items.pop();
  }

  private takeAt(at: number): T | undefined {
    const item = this.items[at];
    const last = this.items.pop();
    if (last !== undefined && at < this.items.length) this.items[at] = last;
    return item;
  }
}
