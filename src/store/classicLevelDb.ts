/**
 * LevelDB by the package `classic-level`, for a node without the addon. The package cannot be told to verify checksums as
 * it reads: every table file is verified when the database is opened instead, which is slow.
 */
import { ClassicLevel } from 'classic-level';
import { assert } from '../util/assert.js';
import { asBuffer, fromLatin1, toLatin1, type Bytes } from '../util/bytes.js';
import { breathe } from '../util/breathe.js';
import { checkDatabase, findDamagedTable } from './databaseCheck.js';
import {
  DatabaseDamagedError,
  FILE_BYTES,
  READ_NOW_MICROS,
  SLOW_ROW_MICROS,
  WALK_ROWS,
  type LevelDb,
  type LevelDbOptions,
} from './levelDb.js';
import { changesOf } from './rowRecords.js';
import type { RowRange } from './rows.js';

/**
 * Table files that are kept open. They are mapped into memory, and what was read of them counts as the process's own: so
 * many of this size bound it to 384 MiB, however large the database.
 */
const OPEN_FILES = 96 + 10;
/** Rows between two looks at the clock. Arbitrary, some tenths of a millisecond. */
const ROWS_A_LOOK = 256;
const DELETIONS_A_BATCH = 10_000;

export class ClassicLevelDb implements LevelDb {
  private readonly path: string;
  private readonly options: LevelDbOptions;
  private opened: ClassicLevel<Buffer, Buffer> | null = null;
  private written = 0;

  constructor(path: string, options: LevelDbOptions) {
    this.path = path;
    this.options = options;
  }

  async open(): Promise<void> {
    const { lastSequence } = await checkDatabase(this.path);
    const damaged = await findDamagedTable(this.path);
    if (damaged !== null) throw new DatabaseDamagedError(this.path, damaged);
    // One that is made opens by itself: not before the files were checked.
    this.opened = new ClassicLevel<Buffer, Buffer>(this.path, {
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
      cacheSize: this.options.cacheBytes,
      writeBufferSize: this.options.writeBufferBytes,
      maxFileSize: FILE_BYTES,
      maxOpenFiles: OPEN_FILES,
    });
    await this.opened.open();
    this.written = lastSequence;
  }

  close(): Promise<void> {
    return this.db.close();
  }

  private get db(): ClassicLevel<Buffer, Buffer> {
    assert(this.opened, 'the database is not open');
    return this.opened;
  }

  get sequence(): number {
    return this.written;
  }

  get(key: string): Promise<Buffer | undefined> {
    return this.db.get(fromLatin1(key));
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
      out[i] = this.db.getSync(fromLatin1(keys[i]!), { fillCache });
      now = performance.now();
      if (now > until || now - before >= SLOW_ROW_MICROS / 1000) break;
    }
    return n;
  }

  getMany(keys: readonly string[], fillCache: boolean): Promise<(Buffer | undefined)[]> {
    return this.db.getMany(keys.map(fromLatin1), { fillCache });
  }

  rangeNow(): null {
    return null;
  }

  async *iterate(range: RowRange, likelyRows = WALK_ROWS): AsyncGenerator<[string, Buffer]> {
    const iterator = this.db.iterator({
      gte: fromLatin1(range.gte),
      lt: fromLatin1(range.lt),
      reverse: range.reverse ?? false,
      limit: range.limit ?? -1,
    });
    try {
      for (let most = Math.min(WALK_ROWS, likelyRows); ; most = WALK_ROWS) {
        const rows = await iterator.nextv(most);
        if (rows.length === 0) return;
        for (const [key, value] of rows) yield [toLatin1(key), value];
      }
    } finally {
      await iterator.close();
    }
  }

  async write(records: readonly Buffer[], { sync }: { sync: boolean }): Promise<void> {
    const batch = this.db.batch();
    let since: number | Promise<number> = performance.now();
    for (const piece of records) {
      for (const [key, value] of changesOf(piece)) {
        if (value === null) batch.del(key);
        else batch.put(key, asBuffer(value));
        if (batch.length % ROWS_A_LOOK !== 0) continue;
        since = breathe(since);
        if (typeof since !== 'number') since = await since;
      }
    }
    this.written += batch.length;
    await batch.write({ sync });
  }

  async deleteRange(gte: string, lt: string): Promise<void> {
    const range = { gte: fromLatin1(gte), lt: fromLatin1(lt), limit: DELETIONS_A_BATCH };
    for (;;) {
      const keys = await this.db.keys(range).all();
      if (keys.length === 0) return;
      this.written += keys.length;
      await this.db.batch(keys.map((key) => ({ type: 'del', key })));
    }
  }

  compact(gte: string, lt: string): Promise<void> {
    return this.db.compactRange(fromLatin1(gte), fromLatin1(lt));
  }

  approximateSize(gte: string, lt: string): Promise<number> {
    return this.db.approximateSize(fromLatin1(gte), fromLatin1(lt));
  }

  stats(): string {
    return this.db.getProperty('leveldb.stats');
  }
}
