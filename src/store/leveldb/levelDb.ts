/**
 * The LevelDB interface that the row store uses, and the error for corrupt files. Two implementations: `nativeLevelDb.ts`
 * over the addon, `packageLevelDb.ts` without it. Only the first verifies checksums with every read.
 */
import type { Bytes } from '../../util/bytes.js';
import type { RowRange } from '../rows/rows.js';
import { OperatorError } from '../../util/text/operatorError.js';

/** A table file is closed when it reaches this size. */
export const FILE_BYTES = 4 << 20;
/** Index and filter of an open table file, which LevelDB keeps in memory: about this share of the file. */
export const TABLE_INDEX_SHARE = 1 / 40;
/**
 * Maximum number of open table files, each with its index and filter (some 100 KiB). Reopening one takes some 50 µs and
 * loses its cached data.
 */
export const OPEN_FILES = 1000 + 10;
/** Maximum time for reading rows on the caller's thread. */
export const READ_NOW_MICROS = 1000;
/** A row that takes longer was not in memory; the next ones probably are not either. */
export const SLOW_ROW_MICROS = 100;
/** Rows that a walk reads in one call. */
export const WALK_ROWS = 256;

export interface LevelDbOptions {
  /** Size of LevelDB's cache of table blocks. */
  readonly cacheBytes: number;
  /** Written data goes to a table file when it reaches this size. */
  readonly writeBufferBytes: number;
}

/** Keys are latin1 strings, one character for each byte. Returned values belong to the caller. */
export interface LevelDb {
  /** Throws `DatabaseCorruptionError`, or an error whose `code` is LEVEL_LOCKED or LEVEL_IO_ERROR. */
  open(): Promise<void>;
  /** Waits for calls in progress, and ends the walks. */
  close(): Promise<void>;
  /** Sequence number of the newest put or delete; each is one more than the previous one. */
  readonly sequence: number;
  get(key: string): Promise<Buffer | undefined>;
  /**
   * Reads rows on the caller's thread as long as they are read as fast as from memory. For the first positions in `wanted`
   * it stores row `keys[i]` in `out[i]`. Returns the number of processed positions, at least one.
   */
  getNow(
    keys: readonly string[],
    wanted: readonly number[],
    out: (Bytes | undefined)[],
    fillCache: boolean,
  ): number;
  /** Reads rows on another thread. */
  getMany(keys: readonly string[], fillCache: boolean): Promise<(Buffer | undefined)[]>;
  /**
   * Packed values (`PackedValues` of `rowRecords.ts`) of the keys of records, Values missing in `known` are read on another
   * thread. Neither buffer may change during the call. An implementation without this method must be asked for rows.
   */
  getUnknown?(records: Buffer, known: Buffer): Promise<Buffer>;
  /** All rows of a short range, read on the caller's thread; null if they were not in memory. */
  rangeNow(range: RowRange): [key: string, value: Buffer][] | null;
  /**
   * Iterates over the rows in their state at the start of the walk. `likelyRows` is the number of rows that the caller
   * probably needs.
   */
  iterate(range: RowRange, likelyRows?: number): AsyncGenerator<[key: string, value: Buffer]>;
  /** The same in batches of 1 to `batchRows` rows. */
  iterateBatches(range: RowRange, batchRows: number): AsyncGenerator<[key: string, value: Buffer][]>;
  /** The rows of all records (`rowRecords.ts`) as one atomic batch. They must not change until it is written. */
  write(records: readonly Buffer[], options: { sync: boolean }): Promise<void>;
  /** Deletes the rows from `gte` up to but not including `lt`, in several batches. */
  deleteRange(gte: string, lt: string): Promise<void>;
  /** Rewrites the files of a range without deleted rows. */
  compact(gte: string, lt: string): Promise<void>;
  /** Approximate size of the range in the files. */
  approximateSize(gte: string, lt: string): Promise<number>;
  /** The number by which other threads read it (`sharedRows.ts`); null if they cannot. */
  share(): number | null;
  /** Table files by level and the cost of compactions, as lines of text. */
  stats(): string;
  /** Bytes of the block cache and of the write buffers. */
  readonly memoryBytes: number;
}

/** Database files lost or changed bytes, so no result of the database is reliable. The message is for the operator. */
export class DatabaseCorruptionError extends OperatorError {
  override readonly name = 'DatabaseCorruptionError';
  /** Code like LevelDB's own errors, which stop the node. */
  readonly code = 'LEVEL_CORRUPTION';

  /** `what` names the file and the error in it. */
  constructor(path: string, what: string, options?: ErrorOptions) {
    super(
      `The database in ${path} is damaged: ${what}. Restart with -reindex to rebuild it from the block files.`,
      options,
    );
  }
}
