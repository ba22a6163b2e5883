/**
 * Very many rows in memory, with lookup by key, ordered walks and a running size. `null` marks a deletion that hides lower
 * layers. With the addon the rows are off the JavaScript heap.
 */
import type { Bytes } from '../../util/bytes.js';
import type { RowRange } from '../rows/rows.js';

export type KeyRange = Pick<RowRange, 'gte' | 'lt'>;

export interface Memtable {
  /** Memory of the rows. */
  readonly sizeBytes: number;
  readonly count: number;
  /** A copy of the value; null for a deletion, undefined if the key is not in the table. */
  get(key: string): Bytes | null | undefined;
  set(key: string, value: Bytes | null): void;
  /** Sets the rows of records (`rowRecords.ts`), in their order. */
  addRecords(records: Buffer): void;
  /** Looks up the keys of records in one call. Only with the addon. */
  readRecords?(records: Buffer): KnownValues;
  clear(): void;
  /** Runs changes atomically: other threads see all of them or none. */
  change(changes: () => void): void;
  /** Number of calls of `change`. */
  readonly changes: number;
  /** Number by which other threads open the table (`sharedRows.ts`); null if they cannot. */
  share(): number | null;
  /**
   * All rows as records (`rowRecords.ts`), about `maxBytes` of them at once but at least one. Rows of one kind follow each
   * other; there is no other order. So a table file has few kinds of rows, and a lookup reads few files. A yielded buffer is
   * valid until the next one is requested. Do not change the rows during the walk.
   */
  records(maxBytes: number): Iterable<Buffer>;
  /**
   * Rows within the range, deletions included, in ascending order; The result is a snapshot: the rows may change during its
   * use.
   */
  slice(range: KeyRange): [string, Bytes | null][];
}

/**
 * Values for the keys of records, packed (`PackedValues` of `rowRecords.ts`). `unknown` is the number of keys that are not
 * in the table.
 */
export interface KnownValues {
  readonly values: Buffer;
  readonly unknown: number;
}

/** Cache of rows of one kind. */
export interface RowCache {
  readonly sizeBytes: number;
  /** A copy of the row; null when it is known to be absent, undefined when the database must be asked. */
  get(key: string): Bytes | null | undefined;
  /** Records the value that the database has from now on; null for a deleted row. */
  set(key: string, value: Bytes | null): void;
  /** The same for records (`rowRecords.ts`). Only keys that start with the byte `kind` are used. */
  setRecords(kind: string, records: Buffer): void;
  clear(): void;
}
