/**
 * Interface of tables with very many rows in memory: lookup by key, iteration in key order, and the memory size. The value
 * `null` marks a deletion, which hides the row in the database below. With the addon the rows are outside the JavaScript
 * heap.
 */
import type { NativeCachedRows, NativeRows } from '../../native/binding.js';
import type { Bytes } from '../../util/bytes.js';
import type { RowRange } from '../rows/rows.js';

export type KeyRange = Pick<RowRange, 'gte' | 'lt'>;

export interface Memtable {
  /** Memory of the rows in bytes. */
  readonly sizeBytes: number;
  readonly count: number;
  /** Returns a copy of the value; null for a deletion, undefined if the key is not in the table. */
  get(key: string): Bytes | null | undefined;
  set(key: string, value: Bytes | null): void;
  /** Sets the rows of serialized records (`rowRecords.ts`), in their order. */
  addRecords(records: Buffer): void;
  /** The table of the addon. Exists only with the addon. */
  readonly native?: NativeRows;
  /** Looks up the keys of serialized records in one call. Exists only with the addon. */
  readRecords?(records: Buffer): KnownValues;
  /**
   * Declares that rows of these types (first characters of keys) are added only if the layers below have no row with their
   * keys. If such a row is deleted before the next `clear`, `records` leaves it out.
   */
  declareNew(kinds: string): void;
  clear(): void;
  /** Runs `changes` atomically: other threads see either all changes or none. */
  change(changes: () => void): void;
  /** Number of calls of `change` so far. */
  readonly changes: number;
  /** Returns a number by which other threads can open the table (`sharedRows.ts`); null if they cannot. */
  share(): number | null;
  /**
   * Iterates over all rows as records (`rowRecords.ts`). Each yielded buffer has about `maxBytes`, but at least one record.
   * Rows with the same first key byte (the row type) are consecutive. So each database file contains few row types, and a
   * lookup reads few files. The addon returns the rows in the order of their keys; in the fallback the order within a type is
   * undefined. A buffer is valid until the next buffer is requested. Do not change the rows during the iteration.
   */
  records(maxBytes: number): Iterable<Buffer>;
  /**
   * Rows within the range, including deletions, in ascending key order. With a limit, only the first rows that contain this
   * number of values, or the last ones if the range is reversed: a merge with lower layers needs no others. The result is a
   * snapshot, so the table may change while the result is used.
   */
  slice(range: RowRange): [string, Bytes | null][];
}

/**
 * Result of a lookup of many keys. `values`: the packed values (`PackedValues` of `rowRecords.ts`). `unknown`: number of
 * keys that are not in the table.
 */
export interface KnownValues {
  readonly values: Buffer;
  readonly unknown: number;
}

/** Cache of rows of one type. The first byte of a key is the row type. */
export interface RowCache {
  /** The cache of the addon. Exists only with the addon. */
  readonly native?: NativeCachedRows;
  readonly sizeBytes: number;
  /** Returns a copy of the row; null if the row is known to be absent, undefined if the caller must read the database. */
  get(key: string): Bytes | null | undefined;
  /** Sets the value that the database contains after a commit; null for a deleted row. */
  set(key: string, value: Bytes | null): void;
  /**
   * Like `set`, for all serialized records (`rowRecords.ts`) whose keys start with the byte `kind`. Other records are
   * ignored.
   */
  setRecords(kind: string, records: Buffer): void;
  clear(): void;
  /** Changes the size limit. Evicts rows if the cache exceeds it. */
  resize(maxBytes: number): void;
}
