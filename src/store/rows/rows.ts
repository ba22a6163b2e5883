/**
 * The interface of the database for all code above LevelDB. Keys are latin1 strings (one character for each byte), so the
 * order of strings is the order of bytes. Values are byte arrays. A caller must not change a value after it was passed.
 */
import type { Bytes } from '../../util/bytes.js';
import type { NativeCachedRows, NativeDatabase, NativeRows } from '../../native/binding.js';
import type { MaybePromise } from '../../util/maybePromise.js';

export interface RowRange {
  /** Inclusive lower bound of the keys. */
  gte: string;
  /** Exclusive upper bound of the keys. */
  lt: string;
  reverse?: boolean;
  /** Maximum number of rows; if absent, all rows. */
  limit?: number;
}

export interface RowReader {
  get(key: string): Promise<Bytes | undefined>;
  /**
   * Reads rows in one call. Returns the values in the order of the keys; `undefined` for a missing row. `once`: the rows
   * will probably not be read again, so they are not added to the database's cache.
   */
  getMany(keys: readonly string[], options?: { once?: boolean }): Promise<(Bytes | undefined)[]>;
  /** Reads the rows of a short range in one call: up to a hundred rows or so. Use `range` for long ranges. */
  getRange(range: RowRange): Promise<[key: string, value: Bytes][]>;
  /**
   * Like `getMany`, but synchronous; null if a row is not in memory. If a source lacks this method, it can only be read
   * asynchronously.
   */
  getManyNow?(keys: readonly string[]): (Bytes | undefined)[] | null;
  /** Like `getRange`, but synchronous. Null if a row is not in memory. */
  getRangeNow?(range: RowRange): [key: string, value: Bytes][] | null;
  /**
   * Iterates over rows in key order (or reversed). Includes uncommitted writes of the transaction. The caller may keep the
   * values.
   */
  range(range: RowRange): AsyncIterable<[key: string, value: Bytes]>;
}

export interface RowWriter {
  put(key: string, value: Bytes): void;
  del(key: string): void;
}

/**
 * The writes of one block: reads of the transaction see its writes immediately, other readers see them after `commit`.
 * `discard` drops the writes. Code that writes very many rows must await `relieve` every few thousand writes. `relieve`
 * limits the memory: it moves the rows of a large transaction to a staging area on disk.
 */
export interface RowTransaction extends RowReader, RowWriter {
  /**
   * Puts and deletes the rows of records (`rowRecords.ts`) in their order. The caller must not change `records` afterwards.
   * `kinds` contains the first character of every key. The records are unpacked only if a row of these types is read.
   */
  putRecords(kinds: string, records: Buffer): void;
  /**
   * Returns the values that the keys of records had before the transaction, packed (`PackedValues` of `rowRecords.ts`),
   * without creating an object for each value. Null if this is not possible at present; the method is absent if it is never
   * possible. The caller must then read single rows. The records must not change during the call.
   */
  formerValues?(records: Buffer): MaybePromise<Buffer> | null;
  /**
   * Returns the tables with those committed rows of a type that are in memory. Null if the transaction may contain rows of this
   * type, or if the tables are not in the addon.
   */
  tablesOf?(kind: string): RowTables | null;
  /**
   * Returns where the addon can read the committed rows of these types itself. Null if the transaction may contain rows of these types,
   * or if not all of these rows can be read in the addon.
   */
  sourceOf?(kinds: string): RowSource | null;
  /** Reads one row synchronously, even if the disk is slow. Meant for rows that should have been prefetched with `getMany`. */
  getBlocking(key: string): Bytes | undefined;
  relieve(): Promise<void>;
}

/** Tables of the addon: the rows that are not yet in the database, and the cache of rows of the database (null without a cache). */
export interface RowTables {
  readonly overlay: NativeRows;
  readonly recent: NativeCachedRows | null;
}

/** Where the addon reads committed rows: in `overlay`, then in the cache of the row type, then in the database. */
export interface RowSource {
  readonly overlay: NativeRows;
  /** The cache of a row type; null if there is none. */
  readonly cacheOf: (kind: string) => NativeCachedRows | null;
  /** Null if the database has no rows of these types. */
  readonly database: NativeDatabase | null;
}

/** Like `getMany`, but synchronous if the rows are in memory, because a promise costs more than reading some rows. */
export function manyOf(rows: RowReader, keys: readonly string[]): MaybePromise<(Bytes | undefined)[]> {
  return rows.getManyNow?.(keys) ?? rows.getMany(keys);
}

/** Collects the rows of an iteration into an array, to implement `getRange`. */
export async function collectRows(
  rows: AsyncIterable<[key: string, value: Bytes]>,
): Promise<[key: string, value: Bytes][]> {
  const collected: [string, Bytes][] = [];
  for await (const row of rows) collected.push(row);
  return collected;
}

/** Iterates over a range by calls of `getRange` for `stepRows` rows each. */
export async function* walkInSteps(
  rows: Pick<RowReader, 'getRange'>,
  range: RowRange,
  stepRows: number,
): AsyncGenerator<[key: string, value: Bytes]> {
  let { gte, lt } = range;
  for (let left = range.limit ?? Infinity; left > 0;) {
    const limit = Math.min(left, stepRows);
    const found = await rows.getRange({ ...range, gte, lt, limit });
    yield* found;
    if (found.length < limit) return;
    left -= found.length;
    const [last] = found.at(-1)!;
    if (range.reverse) lt = last;
    else gte = `${last}\0`;
  }
}

/** The smallest key that is greater than all keys starting with `prefix`. `prefix` must not consist of 0xff only. */
export function prefixEnd(prefix: string): string {
  let end = prefix.length;
  while (end > 0 && prefix.charCodeAt(end - 1) === 0xff) end--;
  return prefix.slice(0, end - 1) + String.fromCharCode(prefix.charCodeAt(end - 1) + 1);
}
