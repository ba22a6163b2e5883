/**
 * The outputs that transactions of a generated chain can spend: a sample of limited size. Outputs that do not fit are never
 * spent.
 */
import type { ClaimKind } from '../../script/claimScript.js';
import type { Draw } from './draw.js';
import type { Key } from './keyRing.js';

/**
 * An output that a key of the ring can spend. Bytes are stored as latin1 strings: a small buffer would retain the whole
 * memory block that it is a view of.
 */
export interface Coin {
  readonly txKey: string;
  readonly n: number;
  readonly amountSat: number;
  readonly key: Key;
  readonly isWitness: boolean;
  /** Null for an output without a claim or support. */
  readonly stake: Stake | null;
}

/** The claim or support of an output. */
export interface Stake {
  readonly kind: ClaimKind;
  readonly hasMetadata: boolean;
  readonly nameKey: string;
  readonly idKey: string;
  readonly height: number;
  /** The output's script. */
  readonly scriptKey: string;
  /** The key with which it signs as a channel; null for other claims. */
  readonly channelKey: Key | null;
}

/** A coin with a stake. */
export type StakeCoin = Coin & { readonly stake: Stake };

/** A channel with its signing key. */
export interface Channel {
  readonly idKey: string;
  readonly key: Key;
}

/** A pool for random selection; when it is full, a new item replaces a random one. */
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

  /** A random item, which is kept; undefined if the pool is empty. */
  any(): T | undefined {
    return this.items[this.draw.below(this.items.length)];
  }

  /** A random item, which is removed. */
  take(): T | undefined {
    return this.takeAt(this.draw.below(this.items.length));
  }

  /** The item added last, which is removed. */
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
