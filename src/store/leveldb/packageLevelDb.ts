/**
 * LevelDB with the package `classic-level`, for a node without the addon. The file format is the same. Disadvantages
 * compared with the addon: the package cannot verify checksums on reads, so all tables are verified when the database is
 * opened, and later corruption may give a wrong row. Reads return rows one by one. Other threads cannot read the database.
 */
import type { ClassicLevel } from 'classic-level';
import { addonRemedy } from '../../native/addonFiles.js';
import { assert } from '../../util/assert.js';
import type { Bytes } from '../../util/bytes.js';
import { EnvironmentError } from '../../util/text/environmentError.js';
import { checkDatabase, findCorruptTable } from './databaseCheck.js';
import { databaseError } from './databaseError.js';
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
import { changesOf, RecordWriter } from '../rows/rowRecords.js';
import type { RowRange } from '../rows/rows.js';

type Database = ClassicLevel<Buffer, Buffer>;

const ENCODING = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const;
const DELETIONS_A_BATCH = 10_000;

/**
 * Thrown if neither the addon nor the package has a LevelDB binary for this machine. The message says what the operator can
 * do.
 */
export class NoLevelDbError extends EnvironmentError {
  override readonly name = 'NoLevelDbError';
}

/** Loads the package. Throws `NoLevelDbError` if the package has no binary for this machine. */
async function loadPackage(): Promise<typeof ClassicLevel> {
  try {
    return (await import('classic-level')).ClassicLevel;
  } catch (error) {
    const reason = (error as Error).message.split('\n')[0];
    const otherwise = addonRemedy() || 'Use a platform for which the package has a prebuilt addon.';
    throw new NoLevelDbError(
      `No database can be opened: the native addon is not in use, and the package classic-level has no binary for ` +
        `${process.platform} on ${process.arch} (${reason}). ${otherwise}`,
    );
  }
}

export class PackageLevelDb implements LevelDb {
  private readonly path: string;
  private readonly options: LevelDbOptions;
  private db: Database | null = null;
  private written = 0;

  constructor(path: string, options: LevelDbOptions) {
    this.path = path;
    this.options = options;
  }

  async open(): Promise<void> {
    const { lastSequence } = await checkDatabase(this.path);
    const Level = await loadPackage();
    const db = new Level<Buffer, Buffer>(this.path, {
      ...ENCODING,
      cacheSize: this.options.cacheBytes,
      writeBufferSize: this.options.writeBufferBytes,
      maxFileSize: FILE_BYTES,
      maxOpenFiles: OPEN_FILES,
      compression: false,
    });
    try {
      await db.open();
    } catch (error) {
      throw await this.failure(causeOf(error));
    }
    // The database is open from here on, so its lock is held.
    const corruption = await findCorruptTable(this.path);
    if (corruption !== null) {
      await db.close();
      throw new DatabaseCorruptionError(this.path, corruption);
    }
    this.db = db;
    this.written = lastSequence;
  }

  async close(): Promise<void> {
    const { db } = this;
    this.db = null;
    await db?.close();
  }

  private get opened(): Database {
    assert(this.db, 'the database is not open');
    return this.db;
  }

  get sequence(): number {
    return this.written;
  }

  get(key: string): Promise<Buffer | undefined> {
    return this.settled(this.opened.get(bytesOf(key)));
  }

  getNow(
    keys: readonly string[],
    wanted: readonly number[],
    out: (Bytes | undefined)[],
    fillCache: boolean,
  ): number {
    let now = performance.now();
    const until = now + READ_NOW_MICROS / 1000;
    let n = 0;
    while (n < wanted.length) {
      const before = now;
      const i = wanted[n++]!;
      try {
        out[i] = this.opened.getSync(bytesOf(keys[i]!), { ...ENCODING, fillCache });
      } catch (error) {
        throw isCorruption(error)
          ? new DatabaseCorruptionError(this.path, error.message, { cause: error })
          : databaseError(error);
      }
      now = performance.now();
      if (now > until || now - before >= SLOW_ROW_MICROS / 1000) break;
    }
    return n;
  }

  getMany(keys: readonly string[], fillCache: boolean): Promise<(Buffer | undefined)[]> {
    return this.settled(this.opened.getMany(keys.map(bytesOf), { ...ENCODING, fillCache }));
  }

  rangeNow(): null {
    return null;
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
    const range = { ...ENCODING, gte: bytesOf(gte), lt: bytesOf(lt), reverse, limit };
    const walk = this.opened.iterator<Buffer, Buffer>(range);
    try {
      for (let most = firstRows; ; most = batchRows) {
        const rows = await this.settled(walk.nextv(most));
        if (rows.length === 0) return;
        yield rows.map(([key, value]): [string, Buffer] => [key.toString('latin1'), value]);
      }
    } finally {
      await walk.close();
    }
  }

  async write(records: readonly Buffer[], { sync }: { sync: boolean }): Promise<void> {
    const batch = this.opened.batch();
    let changes = 0;
    for (const part of records) {
      for (const [key, value] of changesOf(part)) {
        if (value === null) batch.del(key, ENCODING);
        else batch.put(key, value, ENCODING);
        changes++;
      }
    }
    await this.settled(batch.write({ sync }));
    this.written += changes;
  }

  async deleteRange(gte: string, lt: string): Promise<void> {
    const writer = new RecordWriter();
    for (;;) {
      let count = 0;
      for await (const [key] of this.iterate({ gte, lt, limit: DELETIONS_A_BATCH })) {
        writer.add(key, null);
        count++;
      }
      if (count === 0) return;
      await this.write([writer.take()], { sync: false });
    }
  }

  compact(gte: string, lt: string): Promise<void> {
    return this.settled(this.opened.compactRange(bytesOf(gte), bytesOf(lt), ENCODING));
  }

  approximateSize(gte: string, lt: string): Promise<number> {
    return this.settled(this.opened.approximateSize(bytesOf(gte), bytesOf(lt), ENCODING));
  }

  share(): null {
    return null;
  }

  stats(): string {
    return this.opened.getProperty('leveldb.stats');
  }

  get memoryBytes(): number {
    return Number(this.opened.getProperty('leveldb.approximate-memory-usage'));
  }

  private async settled<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw await this.failure(error);
    }
  }

  /** Converts an error of the package to the errors that callers of the row store expect. */
  private async failure(error: unknown): Promise<unknown> {
    if (!isCorruption(error)) return databaseError(error);
    const table = error.message.includes('.ldb') ? null : await findCorruptTable(this.path);
    return new DatabaseCorruptionError(this.path, table ?? error.message, { cause: error });
  }
}

function bytesOf(key: string): Buffer {
  return Buffer.from(key, 'latin1');
}

/** Returns the error of LevelDB within an error of the package, which wraps it if opening fails. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error;
}

function isCorruption(error: unknown): error is Error {
  return error instanceof Error && (error as { code?: unknown }).code === 'LEVEL_CORRUPTION';
}
