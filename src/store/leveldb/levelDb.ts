/**
 * What the row store asks of LevelDB, and the error for damaged files. Two implementations: `nativeLevelDb.ts` over the
 * addon, `packageLevelDb.ts` without it. Only the first verifies checksums with every read.
 */
import type { Bytes } from '../../util/bytes.js';
import type { RowRange } from '../rows/rows.js';
import { OperatorError } from '../../util/text/operatorError.js';

/** A table file is full from here on. */
export const FILE_BYTES = 4 << 20;
/** Index and filter of an open table file, which LevelDB keeps in memory: about this share of the file. */
export const TABLE_INDEX_SHARE = 1 / 40;
/**
 * Table files that LevelDB keeps open, each with its index and filter (some 100 KiB). Opening one again costs some 50 µs,
 * and forgets what was cached of it.
 */
export const OPEN_FILES = 1000 + 10;
/** The longest that rows are read on the thread of the caller. */
export const READ_NOW_MICROS = 1000;
/** A row that took longer was not in memory, nor will the next ones be. */
export const SLOW_ROW_MICROS = 100;
/** Rows that a walk reads at once. */
export const WALK_ROWS = 256;

export interface LevelDbOptions {
  /** LevelDB's cache of blocks out of table files. */
  readonly cacheBytes: number;
  /** What is written goes into a table file from here on. */
  readonly writeBufferBytes: number;
}

/** Keys are strings of one code unit a byte. Values are the caller's own. */
export interface LevelDb {
  /** Throws `DatabaseCorruptionError`, or an error whose `code` is LEVEL_LOCKED or LEVEL_IO_ERROR. */
  open(): Promise<void>;
  /** Waits for what is under way, and ends the walks. */
  close(): Promise<void>;
  /** Number of the newest put or delete; each has one more than the one before it. */
  readonly sequence: number;
  get(key: string): Promise<Buffer | undefined>;
  /**
   * Reads rows on the thread of the caller, as long as they come as fast as from memory: `keys[i]` into `out[i]` for the
   * first of the positions in `wanted`. How many of these it came to; at least one.
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
   * Packed values (`PackedValues` of `rowRecords.ts`) of the keys of records, those that `known` lacks read on another
   * thread; neither may change meanwhile. A source without it is asked for rows.
   */
  getUnknown?(records: Buffer, known: Buffer): Promise<Buffer>;
  /** All rows of a short range, read on the thread of the caller; null when they did not come as fast as from memory. */
  rangeNow(range: RowRange): [key: string, value: Buffer][] | null;
  /** The rows as they were when the first was asked for. `likelyRows` of them may be all that are taken. */
  iterate(range: RowRange, likelyRows?: number): AsyncGenerator<[key: string, value: Buffer]>;
  /** The same in batches of 1 to `batchRows` rows. */
  iterateBatches(range: RowRange, batchRows: number): AsyncGenerator<[key: string, value: Buffer][]>;
  /** The rows of all records (`rowRecords.ts`) as one atomic batch. They must not change until it is written. */
  write(records: readonly Buffer[], options: { sync: boolean }): Promise<void>;
  /** Deletes what lies from `gte` up to but not including `lt`, in several batches. */
  deleteRange(gte: string, lt: string): Promise<void>;
  /** Writes the files of a range again, without what was deleted. */
  compact(gte: string, lt: string): Promise<void>;
  /** About how many bytes the range takes in the files. */
  approximateSize(gte: string, lt: string): Promise<number>;
  /** The number by which other threads read it (`sharedRows.ts`); null if they cannot. */
  share(): number | null;
  /** Table files by level and what merging them took, as lines of text. */
  stats(): string;
  /** Bytes of the block cache and of the write buffers. */
  readonly memoryBytes: number;
}

/** Files of the database lost or changed bytes: nothing that it answers can be relied on. The message is for the operator. */
export class DatabaseCorruptionError extends OperatorError {
  override readonly name = 'DatabaseCorruptionError';
  /** Code like LevelDB's own errors, which stop the node. */
  readonly code = 'LEVEL_CORRUPTION';

  /** `what` names the file and tells what is wrong with it. */
  constructor(path: string, what: string, options?: ErrorOptions) {
    super(
      `The database in ${path} is damaged: ${what}. Restart with -reindex to rebuild it from the block files.`,
      options,
    );
  }
}
