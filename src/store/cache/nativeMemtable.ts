/**
 * The addon's memtables with the interfaces of the store: without a size limit (`Memtable`), and as a cache (`RowCache`).
 * Contains the buffers for the calls.
 */
import type { NativeCachedRows, NativeRows } from '../../native/binding.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { changesOf } from '../rows/rowRecords.js';
import type { RowRange } from '../rows/rows.js';
import type { KnownValues, Memtable, RowCache } from './memtable.js';

/**
 * Result of an addon lookup for a row that is marked as deleted. Other results are the length of the value, or another
 * negative number for an unknown key.
 */
const DELETED = -2;
/** Maximum number of rows of a range without a limit. */
const MOST_ROWS = 0x7fffffff;

/**
 * Size in bytes of the pool. A caller that keeps one value keeps the whole pool in memory, so the pool is as small as that of
 * `Buffer.allocUnsafe`.
 */
const POOL_BYTES = 8 << 10;
/** Memory into which the addon writes several values. A value is a view of it, because a copy would need two more objects. */
let pool = Buffer.allocUnsafeSlow(POOL_BYTES);
let usedBytes = 0;

/** Common base of both classes. */
class NativeKeyedRows<Rows extends NativeRows | NativeCachedRows> {
  protected readonly rows: Rows;

  constructor(rows: Rows) {
    this.rows = rows;
  }

  get native(): Rows {
    return this.rows;
  }

  get sizeBytes(): number {
    return this.rows.sizeBytes;
  }

  get(key: string): Bytes | null | undefined {
    const { rows } = this;
    const length = rows.read(key, pool, usedBytes);
    if (length < 0) return length === DELETED ? null : undefined;
    if (length > POOL_BYTES - usedBytes) return this.readLarge(key, length);
    const start = usedBytes;
    usedBytes += length;
    return pool.subarray(start, usedBytes);
  }

  /** Reads a value that does not fit into the rest of the pool. */
  private readLarge(key: string, length: number): Bytes {
    const isLarge = length > POOL_BYTES / 2;
    const memory = Buffer.allocUnsafeSlow(isLarge ? length : POOL_BYTES);
    this.rows.read(key, memory, 0);
    if (isLarge) return memory;
    pool = memory;
    usedBytes = length;
    return memory.subarray(0, length);
  }

  set(key: string, value: Bytes | null): void {
    this.rows.set(key, value);
  }

  clear(): void {
    this.rows.clear();
  }
}

/** A cache with a size limit. If it is exceeded, rows that were not read since their insertion are evicted first. */
export class NativeRowCache extends NativeKeyedRows<NativeCachedRows> implements RowCache {
  setRecords(kind: string, records: Buffer): void {
    this.rows.setRecords(kind.charCodeAt(0), records);
  }

  resize(maxBytes: number): void {
    this.rows.resize(maxBytes);
  }
}

/** A table of rows without a size limit. */
export class NativeMemtable extends NativeKeyedRows<NativeRows> implements Memtable {
  get count(): number {
    return this.rows.count;
  }

  addRecords(records: Buffer): void {
    this.rows.addRecords(records);
  }

  declareNew(kinds: string): void {
    this.rows.declareNew(kinds);
  }

  readRecords(records: Buffer): KnownValues {
    const answer = this.rows.readRecords(records);
    return { values: answer.subarray(4), unknown: answer.readUInt32LE(0) };
  }

  get changes(): number {
    return this.rows.changes;
  }

  change(changes: () => void): void {
    this.rows.beginChange();
    try {
      changes();
    } finally {
      this.rows.endChange();
    }
  }

  share(): number {
    return this.rows.share();
  }

  *records(maxBytes: number): Generator<Buffer> {
    const { rows } = this;
    let records = Buffer.allocUnsafeSlow(maxBytes);
    rows.beginWalk();
    for (let length = rows.walk(records); length !== 0; length = rows.walk(records)) {
      if (length < 0) records = Buffer.allocUnsafeSlow(-length);
      else yield records.subarray(0, length);
    }
  }

  slice({ gte, lt, reverse = false, limit = MOST_ROWS }: RowRange): [string, Bytes | null][] {
    const records = this.rows.range(gte, lt, reverse, limit);
    return records === undefined
      ? []
      : Array.from(changesOf(records), ([key, value]) => [toLatin1(key), value]);
  }
}
