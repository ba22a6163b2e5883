/**
 * The narrow view of the one database that everything above LevelDB codes against.
 * Keys are latin1 strings (one code unit a byte), so that string order is byte order. Values are byte arrays which
 * no one mutates after handing them over.
 */
import type { Bytes } from '../../util/bytes.js';
import type { MaybePromise } from '../../util/maybePromise.js';

export interface RowRange {
  /** Inclusive lower bound. */
  gte: string;
  /** Exclusive upper bound. */
  lt: string;
  reverse?: boolean;
  /** Largest number of rows; unlimited if absent. */
  limit?: number;
}

export interface RowReader {
  get(key: string): Promise<Bytes | undefined>;
  /**
   * One value or `undefined` a key, in order. One trip to the database, however many keys. With `once` the rows are
   * not expected to be read again, and push nothing out of the database's cache.
   */
  getMany(keys: readonly string[], options?: { once?: boolean }): Promise<(Bytes | undefined)[]>;
  /** The rows of a short range at once: fewer than a hundred, say; what may be long is walked by `range`. */
  getRange(range: RowRange): Promise<[key: string, value: Bytes][]>;
  /** The same as `getMany` at once; null if rows must be waited for. A source without it always waits. */
  getManyNow?(keys: readonly string[]): (Bytes | undefined)[] | null;
  /** The same as `getRange` at once, likewise. */
  getRangeNow?(range: RowRange): [key: string, value: Bytes][] | null;
  /** Rows in key order (or reversed), own uncommitted writes included. Values may be retained. */
  range(range: RowRange): AsyncIterable<[key: string, value: Bytes]>;
}

export interface RowWriter {
  put(key: string, value: Bytes): void;
  del(key: string): void;
}

/**
 * The writes of one block: readable by itself at once, by others after `commit`, gone after `discard`.
 * Large transactions spill to a staging area on disk by themselves: `relieve` must be awaited now and then
 * (every few thousand writes) by code that writes very many rows; it bounds the memory.
 */
export interface RowTransaction extends RowReader, RowWriter {
  /**
   * Puts and deletes the rows of records (`rowRecords.ts`) in their order; the bytes are not changed afterwards. Every key
   * begins with one of the characters of `kinds`: rows of these are unpacked when a caller asks for one, and rows that
   * no one asks for never are.
   */
  putRecords(kinds: string, records: Buffer): void;
  /**
   * The values that the keys of records had before the transaction, packed (`PackedValues` of `rowRecords.ts`), without a
   * string or an object for each. Null if they cannot be had so, and absent where they never can: then ask for rows.
   * The records must not change meanwhile.
   */
  formerValues?(records: Buffer): MaybePromise<Buffer> | null;
  /** One row on the thread of the caller, however long the disk takes. For rows that `getMany` should have fetched. */
  getBlocking(key: string): Bytes | undefined;
  relieve(): Promise<void>;
}

/** What a walk over rows comes by: `getRange` for sources without a better way. */
export async function collectRows(
  rows: AsyncIterable<[key: string, value: Bytes]>,
): Promise<[key: string, value: Bytes][]> {
  const collected: [string, Bytes][] = [];
  for await (const row of rows) collected.push(row);
  return collected;
}

/** The smallest key above every key that starts with `prefix`; `prefix` must not be all 0xff. */
export function prefixEnd(prefix: string): string {
  let end = prefix.length;
  while (end > 0 && prefix.charCodeAt(end - 1) === 0xff) end--;
  return prefix.slice(0, end - 1) + String.fromCharCode(prefix.charCodeAt(end - 1) + 1);
}
