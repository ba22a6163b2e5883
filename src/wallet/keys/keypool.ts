/**
 * Pool of keys that are created in advance, so that a backup contains the keys that are handed out next. Keys are handed out
 * in the order of creation. If a transaction pays to a key (for example one that a copy of the wallet handed out), all
 * earlier keys are also marked as used. Source: lbrycrd wallet/wallet.cpp `TopUpKeyPool`, `ReserveKeyFromKeyPool`,
 * `MarkReserveKeysAsUsed`.
 */
import { assert } from '../../util/assert.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { recordKey, type WalletBatch } from '../store/records.js';
import { formatPoolKey, idOf, poolKeyNumber, type PoolKey } from './keyRecords.js';
import type { PackedKeys } from './packedKeys.js';
import type { PoolLists } from './packKeys.js';
import { PoolList } from './poolList.js';

/** Names of the pools. `receive`: for addresses. `change`: for change, never shown. `preSplit`: for both, in old wallets. */
export type PoolName = 'receive' | 'change' | 'preSplit';
const POOL_NAMES = ['receive', 'change', 'preSplit'] as const;

const poolOf = ({ isInternal, isPreSplit }: PoolKey): PoolName =>
  isPreSplit ? 'preSplit' : isInternal ? 'change' : 'receive';

/** A key that was taken out of the pool. The caller must later mark it as used (`keep`) or return it (`giveBack`). */
export interface ReservedKey {
  readonly index: number;
  readonly key: PoolKey;
}

const indexKey = (index: number): string => recordKey('pool', poolKeyNumber(index));

export class Keypool {
  /** Keys of each pool by pool index, in ascending order. */
  private readonly pools: Record<PoolName, PoolList> = {
    receive: new PoolList(),
    change: new PoolList(),
    preSplit: new PoolList(),
  };
  /** Keys that are stored in the wallet image. The image also contains their positions in the pools. */
  private packed: PackedKeys | null = null;
  /** Pool index of each pool key in memory, by key id. Null until first use, so that opening a wallet does not hash all keys. */
  private byId: Map<string, number> | null = null;
  private highest = 0;
  /**
   * `reserved`: pool indexes of keys that were taken out and may be returned. `forgotten`: reserved keys up to this index
   * are not returned to the pool, because it was cleared.
   */
  private readonly reserved = new Set<number>();
  private reservations = 0;
  private forgotten = 0;

  count(pool: PoolName): number {
    return this.pools[pool].size;
  }

  /** Creation time of the oldest key of a pool, in seconds since 1970; null if the pool is empty. */
  oldestSec(pool: PoolName): number | null {
    for (const [, { createdSec }] of this.pools[pool]) return createdSec;
    return null;
  }

  /** Adds a newly created key to a pool. */
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

  /** Pool index of the key with this id; undefined if no pool contains the key. */
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

  /** Loads a row. The order of rows does not matter. Call `loaded` after the last row. */
  load(index: number, key: PoolKey): void {
    this.enter(index, key);
    this.highest = Math.max(this.highest, index);
  }

  loaded(): void {
    for (const pool of Object.values(this.pools)) pool.sort();
  }

  /**
   * Initializes the pools with the data of the wallet image (a file with the state at an earlier time). After this, `load`
   * and `unload` apply newer rows.
   */
  begin(packed: PackedKeys, highest: number): void {
    this.packed = packed;
    this.highest = highest;
    for (const name of POOL_NAMES) this.pools[name].begin(packed, packed.columns[name]);
  }

  /** Removes the key of a pool index whose row was deleted. */
  unload(index: number): void {
    for (const pool of Object.values(this.pools)) pool.delete(index);
  }

  /** The pools, in the form in which a wallet image stores them. */
  get lists(): PoolLists {
    return this.pools;
  }

  /** Highest pool index that any pool key has had. */
  get highestIndex(): number {
    return this.highest;
  }

  /**
   * Takes the oldest key for an address or for change out of its pool; null if the pool is empty. The caller must call
   * `keep` or `giveBack` later.
   */
  reserve(isInternal: boolean): ReservedKey | null {
    const pool = this.pools[this.pools.preSplit.size > 0 ? 'preSplit' : isInternal ? 'change' : 'receive'];
    for (const [index, key] of pool) {
      pool.delete(index);
      this.byId?.delete(toLatin1(idOf(key.publicKey)));
      this.reserved.add(index);
      this.reservations++;
      return { index, key };
    }
    return null;
  }

  /** Number of keys that were reserved so far. */
  get reservedCount(): number {
    return this.reservations;
  }

  /** Whether keys are reserved now. Their rows are in the file, but the keys are not in a pool. */
  get hasReserved(): boolean {
    return this.reserved.size > 0;
  }

  /** Marks a reserved key as used. */
  keep(batch: WalletBatch, { index }: ReservedKey): void {
    this.reserved.delete(index);
    batch.del(indexKey(index));
  }

  /** Returns a reserved key to its pool, unless the pool was cleared after the key was taken. */
  giveBack({ index, key }: ReservedKey): void {
    this.reserved.delete(index);
    if (index <= this.forgotten) return;
    const pool = this.pools[poolOf(key)];
    assert(!pool.has(index), 'a key came back to the pool twice');
    this.enter(index, key);
    pool.sort();
  }

  /** Whether the pools of two wallets have a key in common, which both wallets would hand out. */
  sharesWith(other: Keypool): boolean {
    for (const pool of Object.values(this.pools))
      for (const [, { publicKey }] of pool) if (other.has(idOf(publicKey))) return true;
    return false;
  }

  has(keyId: Bytes): boolean {
    return this.indexOf(toLatin1(keyId)) !== undefined;
  }

  /** Marks a key that was seen in a transaction as used, and also all earlier keys of its pool. Returns these keys. */
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

  /** Allows the use of all address keys in the pool for change. Source: `MarkPreSplitKeys`. */
  markPreSplit(batch: WalletBatch): void {
    for (const [index, key] of this.pools.receive) {
      const marked: PoolKey = { ...key, isPreSplit: true };
      this.pools.preSplit.set(index, marked);
      batch.put(indexKey(index), formatPoolKey(marked));
    }
    this.pools.receive.clear();
    this.pools.preSplit.sort();
  }

  /**
   * Removes all keys from the pools, including reserved keys. The wallet still owns the keys, but does not give them out any
   * more.
   */
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
