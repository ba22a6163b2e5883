/**
 * LevelDB in TypeScript, for a node without the addon: the same files, which either of them opens, and the same promise
 * that no byte which fails its checksum becomes a row, in reading and in merging. Owns the order of things; the files are
 * `level/databaseFiles.ts`. The package `classic-level` would not do: it cannot be told to verify, and merges damaged rows
 * into tables with good checksums.
 */
import { join } from 'node:path';
import { rm } from 'node:fs/promises';
import { assert } from '../util/assert.js';
import type { Bytes } from '../util/bytes.js';
import { makeFolder } from '../util/makeFolder.js';
import { SerialQueue } from '../util/serialQueue.js';
import { checkDatabase } from './databaseCheck.js';
import { BlockCache } from './level/blockCache.js';
import { MergedCursor, RunCursor, type Cursor, type Span } from './level/cursors.js';
import { AbandonedError, DatabaseFiles, numbered } from './level/databaseFiles.js';
import { fileError } from './level/fileError.js';
import { readBatch, runLowerBound, withRun, type MemoryRun } from './level/memoryRun.js';
import { BatchWriter, RecordLog } from './level/recordLog.js';
import { readLogs } from './level/readLogs.js';
import { run, runNow, type Found, type Reading } from './level/tableFile.js';
import { spanOf, type Version } from './level/version.js';
import { READ_NOW_MICROS, SLOW_ROW_MICROS, WALK_ROWS, type LevelDb, type LevelDbOptions } from './levelDb.js';
import { RecordWriter } from './rowRecords.js';
import type { RowRange } from './rows.js';

const DELETIONS_A_BATCH = 10_000;

/** What is to be read at a time. Neither part ever changes. */
interface State {
  /** The newest first. */
  readonly runs: readonly MemoryRun[];
  readonly version: Version;
}

export class LevelDbFallback implements LevelDb {
  private readonly path: string;
  private readonly options: LevelDbOptions;
  private readonly queue = new SerialQueue();
  private files: DatabaseFiles | null = null;
  private log: RecordLog | null = null;
  private logNumber = 0;
  private runs: readonly MemoryRun[] = [];
  private memoryBytes = 0;
  private written = 0;
  private isMerging = false;
  /** Why nothing is written any more. */
  private broken: Error | null = null;
  private underWay = 0;
  private onIdle: (() => void) | null = null;

  constructor(path: string, options: LevelDbOptions) {
    this.path = path;
    this.options = options;
  }

  async open(): Promise<void> {
    const { lastSequence } = await checkDatabase(this.path);
    try {
      makeFolder(this.path);
      const files = new DatabaseFiles(this.path, new BlockCache(this.options.cacheBytes));
      const manifest = await files.load();
      this.files = files;
      for await (const { run: fresh, sizeBytes } of readLogs(this.path, manifest)) {
        await this.keep(fresh, sizeBytes);
        if (this.memoryBytes >= this.options.writeBufferBytes) await this.writeOut();
      }
      await this.writeOut();
      this.written = lastSequence;
      this.logNumber = files.newNumber();
      this.log = await RecordLog.create(join(this.path, numbered(this.logNumber, 'log')));
      await files.begin(this.logNumber, lastSequence);
    } catch (error) {
      await this.log?.close();
      await this.files?.close();
      this.log = null;
      this.files = null;
      throw fileError(error, this.path);
    }
    this.broken = null;
    this.mergeSoon();
  }

  /** Ends what is under way; what walks then ends with an error. */
  async close(): Promise<void> {
    if (this.files === null) return;
    this.files.isClosing = true;
    await this.queue.idle();
    if (this.underWay > 0) await new Promise<void>((resolve) => (this.onIdle = resolve));
    const { files, log } = this;
    this.files = null;
    this.log = null;
    this.runs = [];
    this.memoryBytes = 0;
    await log?.close();
    await files.close();
  }

  private get openFiles(): DatabaseFiles {
    assert(this.files, 'the database is not open');
    return this.files;
  }

  get sequence(): number {
    return this.written;
  }

  /** Counts what reads on other threads, with the files that it may need. */
  private async reading<T>(version: Version, work: () => Promise<T>): Promise<T> {
    version.hold();
    this.underWay++;
    try {
      return await work();
    } finally {
      version.release();
      if (--this.underWay === 0) this.onIdle?.();
    }
  }

  private state(): State {
    return { runs: this.runs, version: this.openFiles.version };
  }

  get(key: string): Promise<Buffer | undefined> {
    return this.getMany([key], true).then(([value]) => value);
  }

  getNow(
    keys: readonly string[],
    wanted: readonly number[],
    out: (Bytes | undefined)[],
    fillCache: boolean,
  ): number {
    const state = this.state();
    let now = performance.now();
    const until = now + READ_NOW_MICROS / 1000;
    let n = 0;
    while (n < wanted.length) {
      const before = now;
      const i = wanted[n++]!;
      out[i] = ownValue(runNow(find(state, keys[i]!, fillCache)));
      now = performance.now();
      if (now > until || now - before >= SLOW_ROW_MICROS / 1000) break;
    }
    return n;
  }

  getMany(keys: readonly string[], fillCache: boolean): Promise<(Buffer | undefined)[]> {
    const state = this.state();
    return this.reading(state.version, async () => {
      const values: (Buffer | undefined)[] = [];
      for (const key of keys) values.push(ownValue(await run(find(state, key, fillCache))));
      return values;
    });
  }

  rangeNow(): null {
    return null;
  }

  async *iterate(range: RowRange, likelyRows = WALK_ROWS): AsyncGenerator<[string, Buffer]> {
    const state = this.state();
    const files = this.openFiles;
    const cursor = new MergedCursor(cursorsOf(state, range), range);
    let left = range.limit ?? Infinity;
    state.version.hold();
    try {
      for (let most = Math.min(WALK_ROWS, likelyRows); left > 0; most = WALK_ROWS) {
        assert(this.files === files, 'the database was closed');
        const rows = await this.reading(state.version, () => run(rowsOf(cursor, Math.min(most, left))));
        left -= rows.length;
        yield* rows;
        if (cursor.key === null) return;
      }
    } finally {
      state.version.release();
    }
  }

  /** Runs what writes, alone. What goes wrong may have left half of it: nothing is written after that. */
  private task<T>(work: () => Promise<T>): Promise<T> {
    return this.queue.run(async () => {
      if (this.broken !== null) throw this.broken;
      assert(this.files, 'the database is not open');
      try {
        return await work();
      } catch (error) {
        if (error instanceof AbandonedError) throw error;
        this.broken = fileError(error, this.path);
        throw this.broken;
      }
    });
  }

  async write(records: readonly Buffer[], { sync }: { sync: boolean }): Promise<void> {
    await this.task(() => this.append(records, sync));
    this.mergeSoon();
  }

  private async append(records: readonly Buffer[], sync: boolean): Promise<void> {
    if (this.memoryBytes >= this.options.writeBufferBytes) await this.writeOutAndTurn();
    const batch = new BatchWriter();
    const { run: fresh, changes, sizeBytes } = await readBatch(records, this.written + 1, batch);
    if (changes > 0) await this.log!.append(batch.finish(this.written + 1));
    if (sync) await this.log!.sync();
    this.written += changes;
    await this.keep(fresh, sizeBytes);
  }

  private async keep(fresh: MemoryRun, sizeBytes: number): Promise<void> {
    if (fresh.length === 0) return;
    this.runs = await withRun(this.runs, fresh);
    this.memoryBytes += sizeBytes;
  }

  /** Makes a table of what memory has. */
  private async writeOut(logNumber?: number): Promise<void> {
    if (this.runs.length === 0) return;
    const rows = this.runs.map((one) => new RunCursor(one, EVERYTHING));
    await this.openFiles.addMemory(rows, this.written, logNumber);
    this.runs = [];
    this.memoryBytes = 0;
  }

  /** The same, and begins a new log, for nothing in the old one is needed any more. */
  private async writeOutAndTurn(): Promise<void> {
    if (this.runs.length === 0) return;
    const number = this.openFiles.newNumber();
    const log = await RecordLog.create(join(this.path, numbered(number, 'log')));
    try {
      await this.writeOut(number);
    } catch (error) {
      await log.close();
      throw error;
    }
    await this.log!.close();
    await rm(join(this.path, numbered(this.logNumber, 'log')), { force: true });
    this.log = log;
    this.logNumber = number;
  }

  /** Merges tables, one step at a time with others between them, until all is well. What fails is told to the next who writes. */
  private mergeSoon(): void {
    if (this.isMerging) return;
    this.isMerging = true;
    const step = async (): Promise<void> => {
      const isMore = await this.task(() => this.openFiles.mergeNext(this.written));
      if (isMore) await step();
    };
    void step()
      .catch(() => undefined)
      .finally(() => (this.isMerging = false));
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

  async compact(gte: string, lt: string): Promise<void> {
    await this.task(() => this.writeOutAndTurn());
    for (let level = 0; level < Math.max(1, this.openFiles.version.deepest(gte, lt)); level++) {
      for (let from: string | null = gte; from !== null;) {
        const first: string = from;
        from = await this.task(() => this.compactSome(level, first, lt));
      }
    }
  }

  /** Merges some tables of a level into the next; where to go on, null at the end. */
  private async compactSome(level: number, from: string, lt: string): Promise<string | null> {
    const merge = this.openFiles.version.mergeOfRange(level, from, lt);
    if (merge === null) return null;
    await this.openFiles.merge(merge, this.written);
    return level === 0 ? null : `${spanOf(merge.upper)[1]}\0`;
  }

  approximateSize(gte: string, lt: string): Promise<number> {
    const { version } = this.openFiles;
    return this.reading(version, async () => {
      let size = 0;
      for (const table of version.tables) {
        if (table.first >= lt || table.last < gte) continue;
        const from = table.first >= gte ? 0 : await run(table.offsetOf(gte));
        const to = table.last < lt ? table.sizeBytes : await run(table.offsetOf(lt));
        size += Math.max(0, to - from);
      }
      return size;
    });
  }

  share(): null {
    return null;
  }

  stats(): string {
    const lines = ['Level  Files Size(MB)', '---------------------'];
    for (const [level, tables] of this.openFiles.version.levels.entries()) {
      const bytes = tables.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      if (tables.length === 0) continue;
      lines.push(
        `${String(level).padStart(5)} ${String(tables.length).padStart(6)} ${(bytes / 2 ** 20).toFixed(0).padStart(8)}`,
      );
    }
    return `${lines.join('\n')}\n`;
  }
}

const EVERYTHING: Span = { gte: '', lt: '\uffff' };

function* find({ runs, version }: State, key: string, fillCache: boolean): Reading<Found> {
  for (const one of runs) {
    const row = one[runLowerBound(one, key)];
    if (row?.key === key) return row.value;
  }
  return yield* version.find(key, fillCache);
}

function cursorsOf({ runs, version }: State, span: Span): Cursor[] {
  return [...runs.map((one) => new RunCursor(one, span)), ...version.cursors(span, true)];
}

/** So many rows that are not deleted; the cursor has no key at the end. */
function* rowsOf(cursor: MergedCursor, most: number): Reading<[string, Buffer][]> {
  const rows: [string, Buffer][] = [];
  while (rows.length < most) {
    yield* cursor.next();
    if (cursor.key === null) break;
    if (!cursor.isDeletion) rows.push([cursor.key, Buffer.from(cursor.value)]);
  }
  return rows;
}

/** One value that is kept must not keep the block that it came with. */
function ownValue(found: Found): Buffer | undefined {
  return found === null || found === undefined ? undefined : Buffer.from(found);
}
