/**
 * Cache of the latest values of some row types, with a memory limit: a block often reads rows that a recent block wrote.
 * Also decides which rows are evicted. Code that writes rows must report each change to the cache.
 */
import { loadNative, type NativeCachedRows } from '../../native/binding.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { NativeRowCache } from './nativeMemtable.js';
import { changesOf } from '../rows/rowRecords.js';
import type { RowCache } from './memtable.js';
import { prefixEnd } from '../rows/rows.js';
import { MemtableFallback } from './memtableFallback.js';

export interface RowCachesOptions {
  /** Share of the memory for each row type, by the first byte of the keys. The sum of the shares is 1. */
  shares: Readonly<Record<string, number>>;
  /** Maximum memory of the cached rows in bytes; 0 disables the cache. */
  maxBytes: number;
}

export class RowCaches {
  private readonly shares: RowCachesOptions['shares'];
  private limitBytes: number;
  private readonly caches = new Map<string, RowCache>();

  constructor({ shares, maxBytes }: RowCachesOptions) {
    this.shares = shares;
    this.limitBytes = maxBytes;
    if (maxBytes === 0) return;
    for (const [kind, share] of Object.entries(shares))
      this.caches.set(kind, createRowCache(Math.ceil(share * maxBytes)));
  }

  /** Maximum memory of the cached rows in bytes. */
  get maxBytes(): number {
    return this.limitBytes;
  }

  /** Changes the maximum memory. The old and the new value must be greater than 0. Evicts rows if the caches exceed it. */
  resize(maxBytes: number): void {
    this.limitBytes = maxBytes;
    for (const [kind, cache] of this.caches) cache.resize(Math.ceil(this.shares[kind]! * maxBytes));
  }

  get sizeBytes(): number {
    let bytes = 0;
    for (const cache of this.caches.values()) bytes += cache.sizeBytes;
    return bytes;
  }

  /** The cache of a row type in the addon; null if there is none. */
  nativeOf(kind: string): NativeCachedRows | null {
    return this.caches.get(kind)?.native ?? null;
  }

  /** See `RowCache`. */
  get(key: string): Bytes | null | undefined {
    return this.caches.get(key[0]!)?.get(key);
  }

  /** Sets the values that the database contains after a commit, from serialized records (`rowRecords.ts`). */
  setRecords(records: Buffer): void {
    for (const [kind, cache] of this.caches) cache.setRecords(kind, records);
  }

  /**
   * Removes the cached rows with keys from `gte` up to but not including `lt`, because the rows were changed without calls
   * of `set`.
   */
  forget(gte: string, lt: string): void {
    for (const [kind, cache] of this.caches) if (gte < prefixEnd(kind) && lt > kind) cache.clear();
  }

  clear(): void {
    for (const cache of this.caches.values()) cache.clear();
  }
}

function createRowCache(maxBytes: number): RowCache {
  const native = loadNative();
  return native ? new NativeRowCache(new native.RowCache(maxBytes)) : new RowCacheFallback(maxBytes);
}

/**
 * JavaScript fallback of the addon's cache, with two generations. When the younger generation is full, the older one is
 * dropped. So a row stays cached until at least half of the limit has been written after it.
 */
export class RowCacheFallback implements RowCache {
  private maxBytes: number;
  private young = new MemtableFallback();
  private old = new MemtableFallback();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get sizeBytes(): number {
    return this.young.sizeBytes + this.old.sizeBytes;
  }

  get(key: string): Bytes | null | undefined {
    const row = this.young.get(key);
    return row === undefined ? this.old.get(key) : row;
  }

  setRecords(kind: string, records: Buffer): void {
    const first = kind.charCodeAt(0);
    for (const [key, value] of changesOf(records)) if (key[0] === first) this.set(toLatin1(key), value);
  }

  set(key: string, value: Bytes | null): void {
    this.young.set(key, value);
    if (this.young.sizeBytes >= this.maxBytes / 2) this.age();
  }

  private age(): void {
    const spare = this.old;
    spare.clear();
    this.old = this.young;
    this.young = spare;
  }

  resize(maxBytes: number): void {
    this.maxBytes = maxBytes;
    for (let ages = 0; ages < 2 && this.sizeBytes > maxBytes; ages++) this.age();
  }

  clear(): void {
    this.young.clear();
    this.old.clear();
  }
}
