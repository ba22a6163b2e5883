/**
 * LevelDB inside the addon: checksums are verified on every read, table files are read instead of mapped, and rows are
 * passed between addon and JavaScript in packed form. Defines the order of steps at open and close. `databaseCheck.ts`
 * checks the files before they are opened.
 */
import type { NativeAddon, NativeDatabase, NativeDatabaseWalk } from '../../native/binding.js';
import type { Bytes } from '../../util/bytes.js';
import { checkDatabase, findCorruptTable } from './databaseCheck.js';
import { databaseError, onDatabase } from './databaseError.js';
import {
  DatabaseCorruptionError,
  FILE_BYTES,
  OPEN_FILES,
  READ_NOW_MICROS,
  SLOW_ROW_MICROS,
  WALK_ROWS,
  type LevelDb,
  type LevelDbOptions,
} from './levelDb.js';
import type { RowRange } from '../rows/rows.js';

/** Maximum number of rows for which a range counts as short. */
const SHORT_RANGE_ROWS = 1024;
/** Maximum number of bytes that an iteration reads per call. */
const WALK_BYTES = 1 << 20;
const ABSENT = 0xffffffff;
const RECORD_HEAD_BYTES = 8;

export class NativeLevelDb implements LevelDb {
  private readonly addon: NativeAddon;
  private readonly path: string;
  private readonly db: NativeDatabase;
  private readonly walks = new Set<NativeDatabaseWalk>();
  private underWay = 0;
  private onIdle: (() => void) | null = null;

  constructor(addon: NativeAddon, path: string, options: LevelDbOptions) {
    this.addon = addon;
    this.path = path;
    this.db = new addon.Database(path, {
      cacheBytes: options.cacheBytes,
      writeBufferBytes: options.writeBufferBytes,
      rangeKinds: options.rangeKinds ?? '',
      fileBytes: FILE_BYTES,
      openFiles: OPEN_FILES,
    });
  }

  async open(): Promise<void> {
    await checkDatabase(this.path);
    await this.settled(() => this.db.open());
  }

  async close(): Promise<void> {
    if (this.underWay > 0) await new Promise<void>((resolve) => (this.onIdle = resolve));
    for (const walk of this.walks) walk.close();
    this.walks.clear();
    await this.db.close();
  }

  get native(): NativeDatabase {
    return this.db;
  }

  get sequence(): number {
    return onDatabase(() => this.db.sequence);
  }

  async get(key: string): Promise<Buffer | undefined> {
    const out: (Buffer | undefined)[] = [];
    this.getNow([key], [0], out, true);
    return out[0];
  }

  getNow(
    keys: readonly string[],
    wanted: readonly number[],
    out: (Bytes | undefined)[],
    fillCache: boolean,
  ): number {
    const asked = wanted.map((i) => keys[i]!);
    let sizeBytes: number;
    try {
      do {
        sizeBytes = makeRoom(this.db.getNow(asked, fillCache, SLOW_ROW_MICROS, READ_NOW_MICROS, target));
      } while (sizeBytes < 0);
    } catch (error) {
      throw isCorruption(error)
        ? new DatabaseCorruptionError(this.path, error.message, { cause: error })
        : databaseError(error);
    }
    let n = 0;
    for (let at = 0; at < sizeBytes;) {
      const length = target.readUInt32LE(at);
      at += 4;
      out[wanted[n++]!] = length === ABSENT ? undefined : copyOf(target, at, length);
      if (length !== ABSENT) at += length;
    }
    return n;
  }

  async getMany(keys: readonly string[], fillCache: boolean): Promise<(Buffer | undefined)[]> {
    const values = await this.settled(() => this.db.getMany(keys, fillCache));
    let at = 0;
    return keys.map(() => {
      const length = values.readUInt32LE(at);
      at += 4;
      if (length === ABSENT) return undefined;
      at += length;
      return copyOf(values, at - length, length);
    });
  }

  getUnknown(records: Buffer, known: Buffer): Promise<Buffer> {
    return this.settled(() => this.db.getUnknown(records, known, true));
  }

  getUnknownNow(records: Buffer, known: Buffer): Buffer | null {
    try {
      return this.db.getUnknownNow(records, known, true, SLOW_ROW_MICROS, READ_NOW_MICROS) ?? null;
    } catch (error) {
      // The read on another thread will find the same corruption, and its error names the file.
      if (isCorruption(error)) return null;
      throw databaseError(error);
    }
  }

  rangeNow({ gte, lt, reverse = false, limit = Infinity }: RowRange): [string, Buffer][] | null {
    const most = Math.min(limit, SHORT_RANGE_ROWS);
    let sizeBytes: number;
    try {
      do {
        sizeBytes = makeRoom(this.db.rangeNow(gte, lt, reverse, most, READ_NOW_MICROS, target));
      } while (sizeBytes < 0);
    } catch (error) {
      // Iterating over the range will find the same corruption, and the error of the iteration names the file.
      if (isCorruption(error)) return null;
      throw databaseError(error);
    }
    const rows = rowsOf(target, sizeBytes);
    const isWhole = target[0] === 1 && (rows.length < most || rows.length === limit);
    return isWhole ? rows : null;
  }

  async *iterate(range: RowRange, likelyRows = WALK_ROWS): AsyncGenerator<[string, Buffer]> {
    for await (const rows of this.walk(range, Math.min(WALK_ROWS, likelyRows), WALK_ROWS)) yield* rows;
  }

  iterateBatches(range: RowRange, batchRows: number): AsyncGenerator<[string, Buffer][]> {
    return this.walk(range, batchRows, batchRows);
  }

  /**
   * Iterates over a range in batches. `firstRows`: maximum number of rows in the first batch. `batchRows`: maximum number of
   * rows in later batches.
   */
  private async *walk(
    { gte, lt, reverse = false, limit = Infinity }: RowRange,
    firstRows: number,
    batchRows: number,
  ): AsyncGenerator<[string, Buffer][]> {
    const walk = onDatabase(() => new this.addon.DatabaseWalk(this.db, gte, lt, reverse));
    this.walks.add(walk);
    try {
      let most = firstRows;
      for (let left = limit; left > 0; most = batchRows) {
        const answer = await this.settled(() => walk.next(Math.min(most, left), WALK_BYTES));
        const rows = rowsOf(answer, answer.length);
        left -= rows.length;
        if (rows.length > 0) yield rows;
        if (answer[0] === 1) return;
      }
    } finally {
      if (this.walks.delete(walk)) walk.close();
    }
  }

  async write(records: readonly Buffer[], { sync }: { sync: boolean }): Promise<void> {
    await this.settled(() => this.db.write(records, sync));
  }

  async deleteRange(gte: string, lt: string): Promise<void> {
    await this.settled(() => this.db.deleteRange(gte, lt));
  }

  async compact(gte: string, lt: string): Promise<void> {
    await this.settled(() => this.db.compact(gte, lt));
  }

  approximateSize(gte: string, lt: string): Promise<number> {
    return this.settled(() => this.db.approximateSize(gte, lt));
  }

  share(): number {
    return onDatabase(() => this.db.share());
  }

  stats(): string {
    return onDatabase(() => this.db.property('leveldb.stats'));
  }

  get memoryBytes(): number {
    return Number(onDatabase(() => this.db.property('leveldb.approximate-memory-usage')));
  }

  /**
   * Makes a call on another thread and waits for its result. After a corruption error it searches for the corrupt file, because the
   * error of a background compaction does not name the file.
   */
  private async settled<T>(call: () => Promise<T>): Promise<T> {
    this.underWay++;
    try {
      return await call();
    } catch (error) {
      if (!isCorruption(error)) throw databaseError(error);
      const table = error.message.includes('.ldb') ? null : await findCorruptTable(this.path);
      throw new DatabaseCorruptionError(this.path, table ?? error.message, { cause: error });
    } finally {
      if (--this.underWay === 0) this.onIdle?.();
    }
  }
}

function isCorruption(error: unknown): error is Error {
  return error instanceof Error && (error as { code?: unknown }).code === 'LEVEL_CORRUPTION';
}

/** Buffer into which the addon writes results. It grows with the longest result. */
let target = Buffer.allocUnsafeSlow(64 << 10);

/**
 * Enlarges the buffer for results if the last result did not fit. Returns the size of the result; a negative size means that
 * the call must be repeated.
 */
function makeRoom(sizeBytes: number): number {
  if (sizeBytes < 0) target = Buffer.allocUnsafeSlow(-2 * sizeBytes);
  return sizeBytes;
}

/** The value is copied, so that a stored value does not keep its whole batch in memory. */
function copyOf(from: Buffer, at: number, length: number): Buffer {
  const copy = Buffer.allocUnsafe(length);
  from.copy(copy, 0, at, at + length);
  return copy;
}

/** Parses the rows of the records (`rowRecords.ts`) that follow the first byte of the buffer, up to `end`. */
function rowsOf(records: Buffer, end: number): [string, Buffer][] {
  const rows: [string, Buffer][] = [];
  for (let at = 1; at < end;) {
    const keyLength = records.readUInt32LE(at);
    const valueLength = records.readUInt32LE(at + 4);
    at += RECORD_HEAD_BYTES + keyLength;
    const key = records.toString('latin1', at - keyLength, at);
    rows.push([key, copyOf(records, at, valueLength)]);
    at += valueLength;
  }
  return rows;
}
