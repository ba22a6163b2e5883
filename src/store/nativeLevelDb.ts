/**
 * LevelDB inside the addon: checksums are verified on every read, table files are read and not mapped, and rows cross the
 * border packed. Owns the order of things around open and close; what the files must look like before they are opened is
 * told by `databaseCheck.ts`.
 */
import type { NativeAddon, NativeDatabase, NativeDatabaseWalk } from '../native/binding.js';
import { toLatin1, type Bytes } from '../util/bytes.js';
import { checkDatabase, findDamagedTable } from './databaseCheck.js';
import { DatabaseDamagedError, type LevelDb, type LevelDbOptions } from './levelDb.js';
import { changesOf } from './rowRecords.js';
import type { RowRange } from './rows.js';

/** A table file is full from here on. */
const FILE_BYTES = 4 << 20;
/**
 * Table files that LevelDB keeps open, each with its index and filter (some 100 KiB). Opening one again costs some 50 µs,
 * and forgets what was cached of it.
 */
const OPEN_FILES = 1000 + 10;
/** The longest that one call reads on the thread of the caller. */
const READ_NOW_MICROS = 1000;
/** A row that took longer was not in memory, nor will the next ones be. */
const SLOW_ROW_MICROS = 100;
/** More rows are no short range. */
const SHORT_RANGE_ROWS = 1024;
/** What a walk reads at once. */
const WALK_ROWS = 256;
const WALK_BYTES = 1 << 20;
const ABSENT = 0xffffffff;

export class NativeLevelDb implements LevelDb {
  private readonly addon: NativeAddon;
  private readonly path: string;
  private readonly db: NativeDatabase;
  private readonly walks = new Set<NativeDatabaseWalk>();
  private underWay = 0;
  private onIdle: (() => void) | null = null;

  constructor(addon: NativeAddon, path: string, { cacheBytes, writeBufferBytes }: LevelDbOptions) {
    this.addon = addon;
    this.path = path;
    this.db = new addon.Database(path, {
      cacheBytes,
      writeBufferBytes,
      fileBytes: FILE_BYTES,
      openFiles: OPEN_FILES,
    });
  }

  async open(): Promise<void> {
    await checkDatabase(this.path);
    await this.settled(this.db.open());
  }

  async close(): Promise<void> {
    if (this.underWay > 0) await new Promise<void>((resolve) => (this.onIdle = resolve));
    for (const walk of this.walks) walk.close();
    this.walks.clear();
    await this.db.close();
  }

  get sequence(): number {
    return this.db.sequence;
  }

  async get(key: string): Promise<Buffer | undefined> {
    return this.now(() => this.db.get(key, true));
  }

  getNow(
    keys: readonly string[],
    wanted: readonly number[],
    out: (Bytes | undefined)[],
    fillCache: boolean,
  ): number {
    if (wanted.length === 1) {
      const only = wanted[0]!;
      out[only] = this.now(() => this.db.get(keys[only]!, fillCache));
      return 1;
    }
    const asked = wanted.map((i) => keys[i]!);
    const values = this.now(() => this.db.getNow(asked, fillCache, SLOW_ROW_MICROS, READ_NOW_MICROS));
    let n = 0;
    for (const value of valuesOf(values)) out[wanted[n++]!] = value;
    return n;
  }

  async getMany(keys: readonly string[], fillCache: boolean): Promise<(Buffer | undefined)[]> {
    return [...valuesOf(await this.settled(this.db.getMany(keys, fillCache)))];
  }

  rangeNow({ gte, lt, reverse = false, limit = SHORT_RANGE_ROWS }: RowRange): [string, Buffer][] | null {
    const most = Math.min(limit, SHORT_RANGE_ROWS);
    let answer: Buffer;
    try {
      answer = this.db.rangeNow(gte, lt, reverse, most, READ_NOW_MICROS);
    } catch (error) {
      // A walk will come to it too, and tell which file it is.
      if (isCorruption(error)) return null;
      throw error;
    }
    const rows = rowsOf(answer);
    const isWhole = answer[0] === 1 && (rows.length < most || rows.length === limit);
    return isWhole ? rows : null;
  }

  async *iterate(
    { gte, lt, reverse = false, limit = Infinity }: RowRange,
    likelyRows = WALK_ROWS,
  ): AsyncGenerator<[string, Buffer]> {
    const walk = new this.addon.DatabaseWalk(this.db, gte, lt, reverse);
    this.walks.add(walk);
    try {
      let most = Math.min(WALK_ROWS, likelyRows);
      for (let left = limit; left > 0; most = WALK_ROWS) {
        const answer = await this.settled(walk.next(Math.min(most, left), WALK_BYTES));
        const rows = rowsOf(answer);
        left -= rows.length;
        yield* rows;
        if (answer[0] === 1) return;
      }
    } finally {
      if (this.walks.delete(walk)) walk.close();
    }
  }

  async write(records: readonly Buffer[], { sync }: { sync: boolean }): Promise<void> {
    await this.settled(this.db.write(records, sync));
  }

  async deleteRange(gte: string, lt: string): Promise<void> {
    await this.settled(this.db.deleteRange(gte, lt));
  }

  async compact(gte: string, lt: string): Promise<void> {
    await this.settled(this.db.compact(gte, lt));
  }

  approximateSize(gte: string, lt: string): Promise<number> {
    return this.settled(this.db.approximateSize(gte, lt));
  }

  stats(): string {
    return this.db.property('leveldb.stats');
  }

  private now<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw isCorruption(error)
        ? new DatabaseDamagedError(this.path, error.message, { cause: error })
        : error;
    }
  }

  /** The outcome of what runs on another thread. Merging files in the background does not tell which one is damaged. */
  private async settled<T>(work: Promise<T>): Promise<T> {
    this.underWay++;
    try {
      return await work;
    } catch (error) {
      if (!isCorruption(error)) throw error;
      const table = error.message.includes('.ldb') ? null : await findDamagedTable(this.path);
      throw new DatabaseDamagedError(this.path, table ?? error.message, { cause: error });
    } finally {
      if (--this.underWay === 0) this.onIdle?.();
    }
  }
}

function isCorruption(error: unknown): error is Error {
  return error instanceof Error && (error as { code?: unknown }).code === 'LEVEL_CORRUPTION';
}

/** Packed values: `u32 length, or 0xffffffff where there is no row ‖ value`. */
function* valuesOf(values: Buffer): Generator<Buffer | undefined> {
  for (let at = 0; at < values.length;) {
    const length = values.readUInt32LE(at);
    at += 4;
    if (length === ABSENT) yield undefined;
    else {
      // A copy: one value that is kept must not keep all of them.
      yield Buffer.from(values.subarray(at, at + length));
      at += length;
    }
  }
}

/** Records behind one byte. */
function rowsOf(answer: Buffer): [string, Buffer][] {
  const rows: [string, Buffer][] = [];
  for (const [key, value] of changesOf(answer.subarray(1))) rows.push([toLatin1(key), Buffer.from(value!)]);
  return rows;
}
