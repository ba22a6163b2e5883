/**
 * The LevelDB interface that the row store uses, and the error for corrupt files. It has two implementations:
 * `nativeLevelDb.ts` uses the addon, `packageLevelDb.ts` does not. Only `nativeLevelDb.ts` verifies checksums on every read.
 */
import type { NativeDatabase } from '../../native/binding.js';
import type { Bytes } from '../../util/bytes.js';
import type { RowRange } from '../rows/rows.js';
import { OperatorError } from '../../util/text/operatorError.js';

/** Target size of a table file in bytes. LevelDB starts a new file when this size is reached. */
export const FILE_BYTES = 4 << 20;
/**
 * Size of the index and filter of an open table file, which LevelDB keeps in memory, as a share of the file size
 * (approximate).
 */
export const TABLE_INDEX_SHARE = 1 / 40;
/**
 * Maximum number of files that LevelDB keeps open: 1000 tables and 10 other files. Each open table keeps its index and
 * filter in memory (some 100 KiB). Reopening a table takes some 50 µs and loses its cached data.
 */
export const OPEN_FILES = 1000 + 10;
/** Maximum time in microseconds for which one call reads rows on the caller's thread. */
export const READ_NOW_MICROS = 1000;
/**
 * Time in microseconds. If reading a row takes longer, the row was not in memory, and the following rows probably are not
 * either, so they are read on another thread.
 */
export const SLOW_ROW_MICROS = 100;
/** Number of rows that an iteration reads per call. */
export const WALK_ROWS = 256;

export interface LevelDbOptions {
  /** Size in bytes of LevelDB's cache of table blocks. */
  readonly cacheBytes: number;
  /** Size in bytes of written data at which LevelDB writes it to a table file. */
  readonly writeBufferBytes: number;
  /**
   * Row types (first characters of keys) that are read by ranges only. New tables then have no bloom filters for them, which
   * saves memory. Without the addon all rows have filters.
   */
  readonly rangeKinds?: string;
}

/** A LevelDB database. Keys are latin1 strings, one character for each byte. Returned values belong to the caller. */
export interface LevelDb {
  /**
   * Opens the database. Rejects with `DatabaseCorruptionError`, or with a `DatabaseError` (`databaseError.ts`):
   * another process has it open, or a system call failed. All methods throw only these two classes.
   */
  open(): Promise<void>;
  /** Closes the database. Waits for running calls, and ends running iterations. */
  close(): Promise<void>;
  /** Sequence number of the newest put or delete. Each put or delete increases it by one. */
  readonly sequence: number;
  /** The open database of the addon. Exists only with the addon. */
  readonly native?: NativeDatabase;
  get(key: string): Promise<Buffer | undefined>;
  /**
   * Reads rows on the caller's thread, and stops when a read is so slow that the row was not in memory. `wanted` contains
   * positions of `keys`. For each processed position `i`, row `keys[i]` is stored in `out[i]`. Returns the number of
   * processed positions, which is at least one.
   */
  getNow(
    keys: readonly string[],
    wanted: readonly number[],
    out: (Bytes | undefined)[],
    fillCache: boolean,
  ): number;
  /** Reads the rows with these keys on another thread. `fillCache`: LevelDB keeps the read blocks in its cache. */
  getMany(keys: readonly string[], fillCache: boolean): Promise<(Buffer | undefined)[]>;
  /**
   * Returns the packed values (`PackedValues` of `rowRecords.ts`) for the keys of `records`. Values that `known` lacks are
   * read on another thread. Neither buffer may change during the call. If an implementation lacks this method, the caller
   * must read single rows.
   */
  getUnknown?(records: Buffer, known: Buffer): Promise<Buffer>;
  /** Like `getUnknown`, but on the caller's thread; null if a read was slow or failed. Then `getUnknown` must be called. */
  getUnknownNow?(records: Buffer, known: Buffer): Buffer | null;
  /** Returns all rows of a short range, read on the caller's thread; null if they were not in memory. */
  rangeNow(range: RowRange): [key: string, value: Buffer][] | null;
  /**
   * Iterates over the rows in their state at the start of the iteration. `likelyRows` is the number of rows that the caller
   * probably needs.
   */
  iterate(range: RowRange, likelyRows?: number): AsyncGenerator<[key: string, value: Buffer]>;
  /** Like `iterate`, but yields batches. A batch has 1 to `batchRows` rows. */
  iterateBatches(range: RowRange, batchRows: number): AsyncGenerator<[key: string, value: Buffer][]>;
  /**
   * Writes the rows of all records (`rowRecords.ts`) as one atomic batch. The records must not change until the returned
   * promise resolves.
   */
  write(records: readonly Buffer[], options: { sync: boolean }): Promise<void>;
  /** Deletes the rows with keys from `gte` up to but not including `lt`, in several batches. */
  deleteRange(gte: string, lt: string): Promise<void>;
  /** Rewrites the table files of a key range without its deleted rows. */
  compact(gte: string, lt: string): Promise<void>;
  /** Approximate size in bytes of a key range in the table files. */
  approximateSize(gte: string, lt: string): Promise<number>;
  /** Number that identifies the database for other threads (`sharedRows.ts`); null if they cannot read it. */
  share(): number | null;
  /** Table files by level, and the cost of compactions, as lines of text. */
  stats(): string;
  /** Number of bytes of memory that the block cache and the write buffers use. */
  readonly memoryBytes: number;
}

/**
 * Thrown if database files lost or changed bytes, so that no result of the database is reliable. The message is for the
 * operator.
 */
export class DatabaseCorruptionError extends OperatorError {
  override readonly name = 'DatabaseCorruptionError';
  /** Error code with the name that LevelDB errors have. These errors stop the node. */
  readonly code = 'LEVEL_CORRUPTION';

  /** `what` contains the name of the file and the error in it. */
  constructor(path: string, what: string, options?: ErrorOptions) {
    super(
      `The database in ${path} is corrupt: ${what}. Restart with -reindex to rebuild it from the block files.`,
      options,
    );
  }
}
