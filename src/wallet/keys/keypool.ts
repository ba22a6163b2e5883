/**
 * Keys created in advance, so that a backup has the keys that are handed out next. They are handed out in order of creation.
 * A key seen in use (by an older copy of the wallet, for example) also marks all earlier ones as used. Source: lbrycrd
 * wallet/wallet.cpp `TopUpKeyPool`, `ReserveKeyFromKeyPool`, `MarkReserveKeysAsUsed`.
 */
import { assert } from '../../util/assert.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { recordKey, type WalletBatch } from '../store/records.js';
import { formatPoolKey, idOf, poolKeyNumber, type PoolKey } from './keyRecords.js';
import type { PackedKeys } from './packedKeys.js';
import type { PoolLists } from './packKeys.js';
import { PoolList } from './poolList.js';

/** `change` keys are never shown; `preSplit` ones serve for both. */
export type PoolName = 'receive' | 'change' | 'preSplit';
const POOL_NAMES = ['receive', 'change', 'preSplit'] as const;

const poolOf = ({ isInternal, isPreSplit }: PoolKey): PoolName =>
  isPreSplit ? 'preSplit' : isInternal ? 'change' : 'receive';

/** A key that was taken out of the pool and may be returned. */
export interface ReservedKey {
  readonly index: number;
  readonly key: PoolKey;
}

const indexKey = (index: number): string => recordKey('pool', poolKeyNumber(index));

export class Keypool {
  /** Pool entries by index, in ascending order. */
  private readonly pools: Record<PoolName, PoolList> = {
    receive: new PoolList(),
    change: new PoolList(),
    preSplit: new PoolList(),
  };
  /** Keys in columns; the columns also have their positions in the pools. */
  private packed: PackedKeys | null = null;
  /** Pool indexes of the keys in memory by key id. Null until first use, so that opening a wallet does not hash all keys. */
  private byId: Map<string, number> | null = null;
  private highest = 0;
  /** Indexes of keys that were taken out and may be returned. Keys up to index `forgotten` are not returned to the pool. */
  private readonly reserved = new Set<number>();
  private forgotten = 0;

  count(pool: PoolName): number {
    return this.pools[pool].size;
  }

  /** Creation time of the oldest key of a pool; null if it is empty. */
  oldestSec(pool: PoolName): number | null {
    for (const [, { createdSec }] of this.pools[pool]) return createdSec;
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

  /** The index of a key in a pool, by its id. */
  private indexOf(id: string): number | undefined {
    const number = this.packed?.find(id) ?? -1;
    if (number >= 0) {
      const index = this.packed!.columns.poolIndexes[number]!;
      if (this.poolWith(index) !== undefined) return index;
    }
    if (this.byId === null) {
      this.byId = new Map();
      for (const pool of Object.values(this.pools))
        for (const [index, { publicKey }] of pool.inMemory()) this.byId.set(toLatin1(idOf(publicKey)), index);
    }
    return this.byId.get(id);
  }

  private poolWith(index: number): PoolList | undefined {
    return Object.values(this.pools).find((pool) => pool.has(index));
  }

  /** Loads rows, in any order. Call `loaded` after the last. */
  load(index: number, key: PoolKey): void {
    this.enter(index, key);
    this.highest = Math.max(this.highest, index);
  }

  loaded(): void {
    for (const pool of Object.values(this.pools)) pool.sort();
  }

  /** Starts with the data of the wallet image; `load` and `unload` then apply newer rows. */
  begin(packed: PackedKeys, highest: number): void {
    this.packed = packed;
    this.highest = highest;
    for (const name of POOL_NAMES) this.pools[name].begin(packed, packed.columns[name]);
  }

  /** The row of a pool index was deleted. */
  unload(index: number): void {
    for (const pool of Object.values(this.pools)) pool.delete(index);
  }

  /** The pools, for a wallet image. */
  get lists(): PoolLists {
    return this.pools;
  }

  /** The highest index used so far. */
  get highestIndex(): number {
    return this.highest;
  }

  /** Takes the oldest key for an address or for change; null without one. Call `keep` or `giveBack` later. */
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

  /** Marks a reserved key as used. */
  keep(batch: WalletBatch, { index }: ReservedKey): void {
    this.reserved.delete(index);
    batch.del(indexKey(index));
  }

  /** Returns a reserved key to the pool, unless the pool was cleared meanwhile. */
  giveBack({ index, key }: ReservedKey): void {
    this.reserved.delete(index);
    if (index <= this.forgotten) return;
    const pool = this.pools[poolOf(key)];
    assert(!pool.has(index), 'a key came back to the pool twice');
    this.enter(index, key);
    pool.sort();
  }

  /** Whether two pools have a key in common, which both would hand out. */
  sharesWith(other: Keypool): boolean {
    for (const pool of Object.values(this.pools))
      for (const [, { publicKey }] of pool) if (other.has(idOf(publicKey))) return true;
    return false;
  }

  has(keyId: Bytes): boolean {
    return this.indexOf(toLatin1(keyId)) !== undefined;
  }

  /** Marks a key that was seen in a transaction, and all earlier ones of its pool, as used. Returns them. */
  markUsed(batch: WalletBatch, keyId: Bytes): PoolKey[] {
    const index = this.indexOf(toLatin1(keyId));
    if (index === undefined) return [];
    const pool = this.poolWith(index);
    assert(pool, 'a key is in no pool');
    const used: PoolKey[] = [];
    for (const [at, key] of pool) {
      if (at > index) break;
      pool.delete(at);
      this.byId?.delete(toLatin1(idOf(key.publicKey)));
      batch.del(indexKey(at));
      used.push(key);
    }
    return used;
  }

  /** Makes all keys for addresses available for change too. Source: `MarkPreSplitKeys`. */
  markPreSplit(batch: WalletBatch): void {
    for (const [index, key] of this.pools.receive) {
      const marked: PoolKey = { ...key, isPreSplit: true };
      this.pools.preSplit.set(index, marked);
      batch.put(indexKey(index), formatPoolKey(marked));
    }
    this.pools.receive.clear();
    this.pools.preSplit.sort();
  }

  /** Removes all keys from the pool, also reserved ones. They stay keys of the wallet, but are not handed out. */
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
