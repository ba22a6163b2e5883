/**
 * Rows of chosen kinds as they were last written, in bounded memory: what a block writes, a block soon to come reads
 * again. Owns the choice of what stays; writers must report each change to it.
 */
import { loadNative } from '../../native/binding.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { NativeRowCache } from './nativeMemtable.js';
import { changesOf } from '../rows/rowRecords.js';
import type { RowCache } from './memtable.js';
import { prefixEnd } from '../rows/rows.js';
import { MemtableFallback } from './memtableFallback.js';

export interface RowCachesOptions {
  /** What share of the memory each kind of row gets, by the first byte of its keys; 1 in all. */
  shares: Readonly<Record<string, number>>;
  /** The most memory they take; 0 keeps nothing. */
  maxBytes: number;
}

export class RowCaches {
  private readonly caches = new Map<string, RowCache>();

  constructor({ shares, maxBytes }: RowCachesOptions) {
    if (maxBytes === 0) return;
    for (const [kind, share] of Object.entries(shares))
      this.caches.set(kind, createRowCache(Math.ceil(share * maxBytes)));
  }

  get sizeBytes(): number {
    let bytes = 0;
    for (const cache of this.caches.values()) bytes += cache.sizeBytes;
    return bytes;
  }

  /** See `RowCache`. */
  get(key: string): Bytes | null | undefined {
    return this.caches.get(key[0]!)?.get(key);
  }

  /** Takes note of what is in the database from now on: every row of records (`rowRecords.ts`). */
  setRecords(records: Buffer): void {
    for (const [kind, cache] of this.caches) cache.setRecords(kind, records);
  }

  /** Rows between the keys have changed, or gone, without being set one by one. */
  forget(gte: string, lt: string): void {
    for (const [kind, cache] of this.caches) if (gte < prefixEnd(kind) && lt > kind) cache.clear();
  }

  clear(): void {
    for (const cache of this.caches.values()) cache.clear();
  }
}

function createRowCache(maxBytes: number): RowCache {
  const native = loadNative();
  return native ? new NativeRowCache(new native.Memtable(maxBytes)) : new RowCacheFallback(maxBytes);
}

/**
 * Two generations: when the younger is full the elder one goes, so that a row stays for at least half of the bound after
 * its last writing.
 */
export class RowCacheFallback implements RowCache {
  private readonly maxBytes: number;
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
    if (this.young.sizeBytes < this.maxBytes / 2) return;
    const spare = this.old;
    spare.clear();
    this.old = this.young;
    this.young = spare;
  }

  clear(): void {
    this.young.clear();
    this.old.clear();
  }
}
