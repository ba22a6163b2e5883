/** What transactions of a made chain can spend: a bounded sample. What does not fit stays unspent permanently. */
import type { ClaimKind } from '../../script/claimScript.js';
import type { Draw } from './draw.js';
import type { Key } from './keyRing.js';

/**
 * An output that a key of the ring can spend. Bytes are latin1 strings: a small buffer would keep the whole piece of memory
 * that it was cut from.
 */
export interface Coin {
  readonly txKey: string;
  readonly n: number;
  readonly amountSat: number;
  readonly key: Key;
  readonly isWitness: boolean;
  /** Null for an output that neither claims nor supports. */
  readonly stake: Stake | null;
}

/** What an output claims or supports. */
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

/** A channel that signs. */
export interface Channel {
  readonly idKey: string;
  readonly key: Key;
}

/** Items from which one is drawn; when it is full, a new item takes the place of a random one. */
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

  /** A random item, which stays; undefined when there is none. */
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
