/**
 * The interface of the database for all code above LevelDB. Keys are latin1 strings (one character for each byte), so string
 * order is byte order. Values are byte arrays, which must not be changed after they were passed.
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
   * The values in the order of the keys; `undefined` for a missing row. One call of the database for all keys. With `once`
   * the rows are not expected to be read again, and are not added to the database's cache.
   */
  getMany(keys: readonly string[], options?: { once?: boolean }): Promise<(Bytes | undefined)[]>;
  /** The rows of a short range, in one call: fewer than a hundred or so. For long ranges use `range`. */
  getRange(range: RowRange): Promise<[key: string, value: Bytes][]>;
  /** Like `getMany`, synchronously; null if a row is not in memory. A source without this method is always asynchronous. */
  getManyNow?(keys: readonly string[]): (Bytes | undefined)[] | null;
  /** Like `getRange`, synchronously; null if a row is not in memory. */
  getRangeNow?(range: RowRange): [key: string, value: Bytes][] | null;
  /** Rows in key order (or reversed), including the transaction's uncommitted writes. Values may be retained. */
  range(range: RowRange): AsyncIterable<[key: string, value: Bytes]>;
}

export interface RowWriter {
  put(key: string, value: Bytes): void;
  del(key: string): void;
}

/**
 * The writes of one block: its own reads see them at once, other readers after `commit`; `discard` drops them. Code that
 * writes very many rows must await `relieve` every few thousand writes: it limits the memory by moving the rows of a large
 * transaction to a staging area on disk.
 */
export interface RowTransaction extends RowReader, RowWriter {
  /**
   * Puts and deletes the rows of records (`rowRecords.ts`) in their order; the bytes are not changed afterwards. Every key
   * begins with one of the characters of `kinds`: the records are unpacked only if a row of these kinds is read.
   */
  putRecords(kinds: string, records: Buffer): void;
  /**
   * The values that the keys of records had before the transaction, packed (`PackedValues` of `rowRecords.ts`), without a
   * string or an object for each. Null if that is not possible now; the method is absent if it is never possible. Then read
   * the rows instead. The records must not change during the call.
   */
  formerValues?(records: Buffer): MaybePromise<Buffer> | null;
  /** Reads one row synchronously, even if the disk is slow. For rows that `getMany` should have prefetched. */
  getBlocking(key: string): Bytes | undefined;
  relieve(): Promise<void>;
}

/** Collects the rows of a walk: an implementation of `getRange`. */
export async function collectRows(
  rows: AsyncIterable<[key: string, value: Bytes]>,
): Promise<[key: string, value: Bytes][]> {
  const collected: [string, Bytes][] = [];
  for await (const row of rows) collected.push(row);
  return collected;
}

/** A walk over a range by calls of `getRange` for `stepRows` rows each. */
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

/** The smallest key above all keys that start with `prefix`, which must not be all 0xff. */
export function prefixEnd(prefix: string): string {
  let end = prefix.length;
  while (end > 0 && prefix.charCodeAt(end - 1) === 0xff) end--;
  return prefix.slice(0, end - 1) + String.fromCharCode(prefix.charCodeAt(end - 1) + 1);
}
