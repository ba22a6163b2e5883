/**
 * Keys made in advance, so that a backup has those that will be handed out next. They go out in the order in which they were
 * made; one that was used by somebody (an older copy of the wallet, say) takes those before it along. Source: lbrycrd
 * wallet/wallet.cpp `TopUpKeyPool`, `ReserveKeyFromKeyPool`, `MarkReserveKeysAsUsed`.
 */
import { assert } from '../../util/assert.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { recordKey, type WalletBatch } from '../store/records.js';
import { formatPoolKey, idOf, poolKeyNumber, type PoolKey } from './keyRecords.js';

/** `change` keys are never shown; `preSplit` ones serve for both. */
export type PoolName = 'receive' | 'change' | 'preSplit';

const poolOf = ({ isInternal, isPreSplit }: PoolKey): PoolName =>
  isPreSplit ? 'preSplit' : isInternal ? 'change' : 'receive';

/** A key that was taken out of the pool and may come back. */
export interface ReservedKey {
  readonly index: number;
  readonly key: PoolKey;
}

const indexKey = (index: number): string => recordKey('pool', poolKeyNumber(index));

export class Keypool {
  /** By index, in ascending order. */
  private readonly pools: Record<PoolName, Map<number, PoolKey>> = {
    receive: new Map(),
    change: new Map(),
    preSplit: new Map(),
  };
  /** Indexes by the ids of the keys; null until somebody asks, since a wallet that is opened need not hash them all. */
  private byId: Map<string, number> | null = null;
  private highest = 0;
  /** Keys that were taken out and may come back, by index; those up to `forgotten` may not any more. */
  private readonly reserved = new Set<number>();
  private forgotten = 0;

  count(pool: PoolName): number {
    return this.pools[pool].size;
  }

  /** When the oldest key of a pool was made; null when it is empty. */
  oldestSec(pool: PoolName): number | null {
    for (const { createdSec } of this.pools[pool].values()) return createdSec;
    return null;
  }

  /** Adds a key that was just made. */
  add(batch: WalletBatch, publicKey: Bytes, isInternal: boolean, nowSec: number): void {
    const key: PoolKey = { createdSec: nowSec, publicKey, isInternal, isPreSplit: false };
    const index = ++this.highest;
    this.enter(index, key);
    batch.put(indexKey(index), formatPoolKey(key));
  }

  private enter(index: number, key: PoolKey): void {
    this.pools[poolOf(key)].set(index, key);
    this.byId?.set(toLatin1(idOf(key.publicKey)), index);
  }

  private get indexByKey(): Map<string, number> {
    if (this.byId !== null) return this.byId;
    this.byId = new Map();
    for (const pool of Object.values(this.pools))
      for (const [index, { publicKey }] of pool) this.byId.set(toLatin1(idOf(publicKey)), index);
    return this.byId;
  }

  /** Takes in rows of the disk, in any order; `loaded` comes after the last. */
  load(index: number, key: PoolKey): void {
    this.enter(index, key);
    this.highest = Math.max(this.highest, index);
  }

  loaded(): void {
    for (const pool of Object.values(this.pools)) this.sort(pool);
  }

  private sort(pool: Map<number, PoolKey>): void {
    const sorted = [...pool].sort(([a], [b]) => a - b);
    pool.clear();
    for (const [index, key] of sorted) pool.set(index, key);
  }

  /** The oldest key for an address, or for change; null when there is none. It is to be kept or returned. */
  reserve(isInternal: boolean): ReservedKey | null {
    const pool = this.pools[this.pools.preSplit.size > 0 ? 'preSplit' : isInternal ? 'change' : 'receive'];
    for (const [index, key] of pool) {
      pool.delete(index);
      this.byId?.delete(toLatin1(idOf(key.publicKey)));
      this.reserved.add(index);
      return { index, key };
    }
    return null;
  }

  /** A reserved key is in use from now on. */
  keep(batch: WalletBatch, { index }: ReservedKey): void {
    this.reserved.delete(index);
    batch.del(indexKey(index));
  }

  /** A reserved key was not used after all. One that was to be forgotten meanwhile does not come back. */
  giveBack({ index, key }: ReservedKey): void {
    this.reserved.delete(index);
    if (index <= this.forgotten) return;
    const pool = this.pools[poolOf(key)];
    assert(!pool.has(index), 'a key came back to the pool twice');
    this.enter(index, key);
    this.sort(pool);
  }

  /** Whether two have a key in common, which both would hand out. */
  sharesWith(other: Keypool): boolean {
    for (const id of this.indexByKey.keys()) if (other.indexByKey.has(id)) return true;
    return false;
  }

  has(keyId: Bytes): boolean {
    return this.indexByKey.has(toLatin1(keyId));
  }

  /** A key was seen in a transaction: it and all before it in its pool are in use. Answers them. */
  markUsed(batch: WalletBatch, keyId: Bytes): PoolKey[] {
    const index = this.indexByKey.get(toLatin1(keyId));
    if (index === undefined) return [];
    const pool = Object.values(this.pools).find((one) => one.has(index));
    assert(pool, 'a key is in no pool');
    const used: PoolKey[] = [];
    for (const [at, key] of pool) {
      if (at > index) break;
      pool.delete(at);
      this.indexByKey.delete(toLatin1(idOf(key.publicKey)));
      batch.del(indexKey(at));
      used.push(key);
    }
    return used;
  }

  /** Has all keys for addresses serve for change too. Source: `MarkPreSplitKeys`. */
  markPreSplit(batch: WalletBatch): void {
    for (const [index, key] of this.pools.receive) {
      const marked: PoolKey = { ...key, isPreSplit: true };
      this.pools.preSplit.set(index, marked);
      batch.put(indexKey(index), formatPoolKey(marked));
    }
    this.pools.receive.clear();
    this.sort(this.pools.preSplit);
  }

  /** Forgets all, reserved ones too: they stay keys of the wallet and are not handed out. */
  clear(batch: WalletBatch): void {
    for (const index of this.reserved) batch.del(indexKey(index));
    this.forgotten = this.highest;
    for (const pool of Object.values(this.pools)) {
      for (const index of pool.keys()) batch.del(indexKey(index));
      pool.clear();
    }
    this.byId = null;
  }
}
