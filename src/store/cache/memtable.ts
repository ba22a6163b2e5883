/**
 * Very many rows in memory, found by their key and walked in order, with a running size; `null` marks a deletion that
 * hides lower layers. Off the JavaScript heap where the addon is there.
 */
import type { Bytes } from '../../util/bytes.js';
import type { RowRange } from '../rows/rows.js';

export type KeyRange = Pick<RowRange, 'gte' | 'lt'>;

export interface Memtable {
  /** Memory that the rows take. */
  readonly sizeBytes: number;
  readonly count: number;
  /** A copy of the value, the caller's own; null for a deletion, undefined when nothing is known of the key. */
  get(key: string): Bytes | null | undefined;
  set(key: string, value: Bytes | null): void;
  /** Sets the rows of records (`rowRecords.ts`), in their order. */
  addRecords(records: Buffer): void;
  /** What is known of the keys of records, in one call; only where the addon is there. */
  readRecords?(records: Buffer): KnownValues;
  clear(): void;
  /** Runs changes, which other threads see all or none of. */
  change(changes: () => void): void;
  /** How often `change` was called. */
  readonly changes: number;
  /** The number by which other threads read it (`sharedRows.ts`); null if they cannot. */
  share(): number | null;
  /**
   * All rows as records (`rowRecords.ts`), about `maxBytes` of them at once but at least one. They come kind
   * by kind, else in no order: what lies together in a table file is then of few kinds, and looking for a row means
   * looking into few files. What is yielded is good until the next is asked for; do not change the rows meanwhile.
   */
  records(maxBytes: number): Iterable<Buffer>;
  /** Rows within the range, deletions included, in ascending order; a snapshot, so the rows may change meanwhile. */
  slice(range: KeyRange): [string, Bytes | null][];
}

/** Values of the keys of records, packed (`PackedValues` of `rowRecords.ts`), where `unknown` of them are unknown. */
export interface KnownValues {
  readonly values: Buffer;
  readonly unknown: number;
}

/** Rows of one kind. */
export interface RowCache {
  readonly sizeBytes: number;
  /** A copy of the row; null when it is known to be absent, undefined when the database must be asked. */
  get(key: string): Bytes | null | undefined;
  /** Takes note of what is in the database from now on; null for a row that is deleted. */
  set(key: string, value: Bytes | null): void;
  /** The same of those records (`rowRecords.ts`) whose keys begin with the byte `kind`. */
  setRecords(kind: string, records: Buffer): void;
  clear(): void;
}
