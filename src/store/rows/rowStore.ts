/**
 * The one database: LevelDB below a write-back overlay. Owns the overlay, reading through all layers, and the staging area
 * of very large transactions (`rowTransaction.ts`); rows reach LevelDB only by the atomic flush (`databaseWriter.ts`). Does
 * not know what the rows mean.
 */
import type { Bytes } from '../../util/bytes.js';
import type { MaybePromise } from '../../util/maybePromise.js';
import { assert } from '../../util/assert.js';
import { DatabaseWriter, MAX_BATCH_BYTES, type DirtySource } from '../leveldb/databaseWriter.js';
import type { KeyedRows } from './keyedRows.js';
import { FILE_BYTES, OPEN_FILES, TABLE_INDEX_SHARE, type LevelDb } from '../leveldb/levelDb.js';
import { makeLevelDb } from '../leveldb/makeLevelDb.js';
import { fromArray, inOrder, mergeLayers, mergeRows, reaching, type Layer } from './mergeLayers.js';
import { createMemtable } from '../cache/createMemtable.js';
import { RowCaches, type RowCachesOptions } from '../cache/rowCache.js';
import { Transaction, type TransactionGround } from './rowTransaction.js';
import { collectRows, prefixEnd, type RowRange, type RowReader } from './rows.js';
import type { SharedRowsId } from '../cache/sharedRows.js';
import { databaseRange, stagedKey, stagedRow } from '../leveldb/stagedRows.js';

/** LevelDB's memory for rows that are not in a table file yet. */
const WRITE_BUFFER_BYTES = 16 << 20;
/** Number of concurrent reads: the threads of the pool. A disk serves several reads in the time of one. */
const READERS = 4;
/** Minimum number of rows for each thread. */
const ROWS_A_READER = 8;
/** Shorter records are read one by one: for some tens of rows a call to a thread takes longer. */
const THREAD_BYTES = 2048;
/** The positions for a read of one key. */
const FIRST = [0];
export interface RowStoreOptions {
  /** Folder of the LevelDB files. */
  path: string;
  /** LevelDB's own block cache. */
  cacheBytes: number;
  /** Sizes of the row caches; none when absent. */
  recent?: RowCachesOptions;
  /** Maximum size of one batch (`-dbbatchsize`); larger flushes use the journal. At most `MAX_BATCH_BYTES`. */
  batchBytes?: number;
  /** Called at named points of a flush; tests kill the process there. */
  onPoint?: (name: string) => void;
  /** Key of a row that every database of this program has from its first flush on. `open` rejects a database without it. */
  mark?: string;
}

/** The database has rows, but was created by another program. */
export class ForeignDatabaseError extends Error {
  override readonly name = 'ForeignDatabaseError';
}

export class RowStore implements RowReader, TransactionGround {
  private readonly path: string;
  private readonly db: LevelDb;
  /** Bound of LevelDB's own block cache. */
  private readonly cacheBytes: number;
  private readonly disk: DatabaseWriter;
  private readonly overlay = createMemtable();
  /** Row caches: searched after the overlay and before the database. */
  private readonly recent: RowCaches;
  /** Whether committed rows are in the staging area, between overlay and main rows. */
  private stageCommitted = false;
  private open_: Transaction | null = null;
  /** The overlay is being flushed: a row added now would be lost. */
  private flushing = false;
  /** Resolves when the compactions of `packRange` are finished; never rejects. */
  private packing: Promise<unknown> = Promise.resolve();
  /** Flushes everything committed; called before a transaction spills for the first time. */
  beforeSpill: () => Promise<void> = () => this.flush();

  private constructor(db: LevelDb, options: RowStoreOptions) {
    this.path = options.path;
    this.db = db;
    this.cacheBytes = options.cacheBytes;
    this.disk = new DatabaseWriter(db, {
      path: options.path,
      batchBytes: Math.min(MAX_BATCH_BYTES, options.batchBytes ?? MAX_BATCH_BYTES),
      onPoint: options.onPoint ?? (() => {}),
    });
    this.recent = new RowCaches(options.recent ?? { shares: {}, maxBytes: 0 });
  }

  /**
   * Opens the database, and finishes or discards an interrupted flush. Throws `ForeignDatabaseError`, without changing rows,
   * if another program created it.
   */
  static async open(options: RowStoreOptions): Promise<RowStore> {
    const db = makeLevelDb(options.path, {
      cacheBytes: options.cacheBytes,
      writeBufferBytes: WRITE_BUFFER_BYTES,
    });
    await db.open();
    const store = new RowStore(db, options);
    try {
      if (options.mark !== undefined && !(await store.disk.bears(options.mark)))
        throw new ForeignDatabaseError(`${options.path} was made by another program`);
      await store.disk.recover();
    } catch (error) {
      await db.close();
      throw error;
    }
    return store;
  }

  async close(): Promise<void> {
    await this.packing;
    await this.db.close();
  }

  /**
   * Closes and opens the database files. LevelDB keeps open files in memory, whole files if it maps them. After a walk over
   * many rows that are not needed again, this frees the memory. There must be no reads during the call.
   */
  async reopen(): Promise<void> {
    await this.packing;
    await this.db.close();
    await this.db.open();
  }

  /** Approximate size of the rows with this key prefix in LevelDB's files. */
  sizeOnDisk(prefix: string): Promise<number> {
    return this.db.approximateSize(prefix, prefixEnd(prefix));
  }

  /** Bytes of committed rows that are not in LevelDB yet. */
  get dirtyBytes(): number {
    return this.overlay.sizeBytes;
  }

  /** Size of the row caches. */
  get recentBytes(): number {
    return this.recent.sizeBytes;
  }

  async get(key: string): Promise<Bytes | undefined> {
    return (await this.getMany([key]))[0];
  }

  async getMany(keys: readonly string[], options: { once?: boolean } = {}): Promise<(Bytes | undefined)[]> {
    const out = new Array<Bytes | undefined>(keys.length);
    const missing: number[] = [];
    for (let i = 0; i < keys.length; i++) {
      const row = this.overlay.get(keys[i]!);
      if (row === undefined) missing.push(i);
      else if (row !== null) out[i] = row;
    }
    if (missing.length > 0) await this.fillFromDisk(keys, missing, out, this.stageCommitted, !options.once);
    return out;
  }

  /** Reads the rows at positions `missing` of `keys` from the layers below the overlay. */
  async fillFromDisk(
    keys: readonly string[],
    missing: readonly number[],
    out: (Bytes | undefined)[],
    throughStage: boolean,
    fillCache = true,
  ): Promise<void> {
    if (this.disk.diskEmpty) return;
    let rest = missing;
    if (throughStage) {
      const staged = await this.db.getMany(
        rest.map((i) => stagedKey(keys[i]!)),
        true,
      );
      const lower: number[] = [];
      rest.forEach((i, at) => {
        const row = staged[at];
        if (row === undefined) lower.push(i);
        else out[i] = stagedRow(row) ?? undefined;
      });
      rest = lower;
    }
    await this.readHere(keys, this.notRecent(keys, rest, out), out, fillCache);
  }

  /** Reads rows from the row caches; returns the positions that must be read from the database. */
  private notRecent(
    keys: readonly string[],
    wanted: readonly number[],
    out: (Bytes | undefined)[],
  ): readonly number[] {
    return wanted.filter((i) => {
      const row = this.recent.get(keys[i]!);
      if (row) out[i] = row;
      return row === undefined;
    });
  }

  private async readOnThreads(
    keys: readonly string[],
    wanted: readonly number[],
    out: (Bytes | undefined)[],
    fillCache: boolean,
  ): Promise<void> {
    const share = Math.max(ROWS_A_READER, Math.ceil(wanted.length / READERS));
    const reads: Promise<void>[] = [];
    for (let from = 0; from < wanted.length; from += share) {
      const part = wanted.slice(from, from + share);
      const read = this.db.getMany(
        part.map((i) => keys[i]!),
        fillCache,
      );
      reads.push(
        read.then((rows) => {
          part.forEach((i, at) => {
            out[i] = rows[at];
          });
        }),
      );
    }
    await Promise.all(reads);
  }

  /**
   * Reads rows in the page cache on this thread, because a call to another thread costs as much as several rows. If a row
   * was not in memory, other threads read the remaining ones.
   */
  private async readHere(
    keys: readonly string[],
    wanted: readonly number[],
    out: (Bytes | undefined)[],
    fillCache: boolean,
  ): Promise<void> {
    if (wanted.length === 0) return;
    const read = this.db.getNow(keys, wanted, out, fillCache);
    if (read < wanted.length) await this.readOnThreads(keys, wanted.slice(read), out, fillCache);
  }

  /** The value, null for a missing row; undefined if it cannot be read synchronously, which happens only after a spill. */
  getNow(key: string): Bytes | null | undefined {
    const row = this.overlay.get(key);
    if (row !== undefined) return row;
    if (this.stageCommitted) return undefined;
    if (this.disk.diskEmpty) return null;
    const recent = this.recent.get(key);
    return recent === undefined ? (this.readNow(key) ?? null) : recent;
  }

  private readNow(key: string): Bytes | undefined {
    const out: (Bytes | undefined)[] = [];
    this.db.getNow([key], FIRST, out, true);
    return out[0];
  }

  /** Reads a committed row synchronously, even if the disk is slow. */
  getBlocking(key: string, throughStage = this.stageCommitted): Bytes | undefined {
    const row = this.overlay.get(key);
    if (row !== undefined) return row ?? undefined;
    if (this.disk.diskEmpty) return undefined;
    const staged = throughStage ? this.readNow(stagedKey(key)) : undefined;
    if (staged !== undefined) return stagedRow(staged) ?? undefined;
    const recent = this.recent.get(key);
    return recent === undefined ? this.readNow(key) : (recent ?? undefined);
  }

  getManyNow(keys: readonly string[]): (Bytes | undefined)[] | null {
    if (keys.length === 1) {
      const row = this.getNow(keys[0]!);
      return row === undefined ? null : [row ?? undefined];
    }
    const out = new Array<Bytes | undefined>(keys.length);
    const missing: number[] = [];
    for (let i = 0; i < keys.length; i++) {
      const row = this.overlay.get(keys[i]!);
      if (row === undefined) missing.push(i);
      else if (row !== null) out[i] = row;
    }
    if (missing.length === 0) return out;
    if (this.stageCommitted) return null;
    if (this.disk.diskEmpty) return out;
    const wanted = this.notRecent(keys, missing, out);
    return wanted.length === 0 || this.db.getNow(keys, wanted, out, true) === wanted.length ? out : null;
  }

  /**
   * Packed values for the keys of records. Their kinds must not be in the row caches. Null if the caller must read rows
   * instead.
   */
  packedValues(records: Buffer): MaybePromise<Buffer> | null {
    if (this.stageCommitted || !this.overlay.readRecords || !this.db.getUnknown) return null;
    const { values, unknown } = this.overlay.readRecords(records);
    if (unknown === 0 || this.disk.diskEmpty) return values;
    return records.length < THREAD_BYTES ? null : this.db.getUnknown(records, values);
  }

  getRangeNow(range: RowRange): [string, Bytes][] | null {
    // A staged range is read asynchronously, so its layers could belong to different states.
    if (this.stageCommitted) return null;
    const own = this.overlay.slice(range);
    const rows = this.disk.diskEmpty ? [] : this.db.rangeNow(reaching(range, own.length));
    return rows === null ? null : own.length === 0 ? rows : mergeRows(range, inOrder(own, range), rows);
  }

  async getRange(range: RowRange): Promise<[string, Bytes][]> {
    return this.getRangeNow(range) ?? collectRows(this.range(range));
  }

  range(range: RowRange): AsyncIterable<[string, Bytes]> {
    return mergeLayers(range, this.layers(this.stageCommitted));
  }

  /** Committed layers, the newest first. */
  layers(throughStage: boolean): Layer[] {
    const layers: Layer[] = [
      (range) => fromArray(inOrder(this.overlay.slice(range), range)),
      (range) => databaseRange(this.db, range, false),
    ];
    if (throughStage) layers.splice(1, 0, (range) => databaseRange(this.db, range, true));
    return layers;
  }

  /**
   * The rows of an ascending range in batches, as they were when the first was asked for. Nothing may be committed that is not
   * flushed.
   */
  flushedBatches(range: RowRange, batchRows: number): AsyncGenerator<[string, Bytes][]> {
    assert(this.overlay.count === 0 && !this.stageCommitted, 'rows in batches are read from a flushed store');
    return this.db.iterateBatches(range, batchRows);
  }

  /** Incremented by every commit. Rows that other threads read while it is unchanged belong to one state. */
  get commits(): number {
    return this.overlay.changes;
  }

  /** Identifies the committed rows for other threads, except staged ones (`mustFlush`); null if threads cannot read them. */
  share(): SharedRowsId | null {
    const rows = this.overlay.share();
    const database = this.db.share();
    return rows === null || database === null ? null : { rows, database, path: this.path };
  }

  /** Starts a transaction. Only one may be open at a time. */
  begin(): Transaction {
    assert(this.open_ === null, 'a row transaction is open already');
    this.open_ = new Transaction(this);
    return this.open_;
  }

  /**
   * Whether a committed transaction has staged rows: they are valid, but a flush is needed before the next transaction may
   * spill.
   */
  get mustFlush(): boolean {
    return this.stageCommitted;
  }

  /** Commits the rows of the transaction. */
  commit(transaction: Transaction): void {
    assert(this.open_ === transaction, 'commit of a transaction that is not open');
    this.refuseInFlush();
    this.overlay.change(() => transaction.rows.copyTo(this.overlay));
    this.stageCommitted ||= transaction.spilled;
    this.open_ = null;
  }

  async discard(transaction: Transaction): Promise<void> {
    assert(this.open_ === transaction, 'discard of a transaction that is not open');
    this.open_ = null;
    if (transaction.spilled) await this.disk.clearStage();
  }

  /** Writes a row directly to the committed state. */
  put(key: string, value: Bytes): void {
    this.refuseInFlush();
    this.overlay.set(key, value);
  }

  del(key: string): void {
    this.refuseInFlush();
    this.overlay.set(key, null);
  }

  private refuseInFlush(): void {
    assert(!this.flushing, 'rows were changed during a flush');
  }

  /** Moves rows of an open transaction to the staging area. The overlay must be empty, so flush first. */
  async spill(rows: KeyedRows): Promise<void> {
    assert(this.overlay.count === 0, 'a transaction may spill only over a flushed store');
    // Spilled rows reach the database without the overlay, so the caches would be stale.
    this.recent.clear();
    await this.disk.stage(rows);
  }

  /**
   * Writes all committed rows, and those of `source`, to disk as one atomic step. `sourceBytes` is the approximate size of
   * the source. Nothing may be committed, put or deleted until this resolves.
   */
  async flush(source: DirtySource = () => null, sourceBytes = 0): Promise<void> {
    this.refuseInFlush();
    this.flushing = true;
    const { overlay } = this;
    try {
      await this.disk.flush({
        records: (maxBytes) => this.settling(maxBytes),
        sizeBytes: overlay.sizeBytes,
        source,
        sourceBytes,
        withStage: this.stageCommitted,
      });
      overlay.clear();
      this.stageCommitted = false;
    } finally {
      this.flushing = false;
    }
  }

  /** The committed rows as records, for the flush. */
  private *settling(maxBytes: number): Generator<Buffer> {
    for (const records of this.overlay.records(maxBytes)) {
      this.recent.setRecords(records);
      yield records;
    }
  }

  /** Deletes the rows of a key range that no reader needs any more (history outside its window). */
  async dropRange(gte: string, lt: string): Promise<void> {
    this.recent.forget(gte, lt);
    await this.db.deleteRange(gte, lt);
  }

  /**
   * Starts a compaction of a range in which many rows were deleted and none will be written. LevelDB would compact it only
   * much later; this frees the disk space. It runs in the background, and only `close` waits for it. LevelDB reports its
   * errors to the next write.
   */
  packRange(gte: string, lt: string): void {
    const pack = (): Promise<void> => this.db.compact(gte, lt);
    this.packing = this.packing.then(pack).catch(() => undefined);
  }

  /** LevelDB's estimate of the disk space between two keys. */
  async approximateSize(gte: string, lt: string): Promise<number> {
    return this.db.approximateSize(gte, lt);
  }

  /** Memory of LevelDB's block cache and its two write buffers, and their bound. */
  get databaseMemory(): { readonly bytes: number; readonly maxBytes: number } {
    return { bytes: this.db.memoryBytes, maxBytes: this.cacheBytes + 2 * WRITE_BUFFER_BYTES };
  }

  /** About what the indexes and filters of the open table files take, and its bound. */
  async tableIndexMemory(): Promise<{ readonly bytes: number; readonly maxBytes: number }> {
    const maxBytes = OPEN_FILES * FILE_BYTES * TABLE_INDEX_SHARE;
    const onDisk = await this.db.approximateSize('', '\xff');
    return { bytes: Math.min(maxBytes, Math.round(onDisk * TABLE_INDEX_SHARE)), maxBytes };
  }

  /** LevelDB's table files by level and the cost of compactions, as lines of text. */
  tableStats(): string {
    return this.db.stats();
  }

  /** Compacts all table files, so that no row is stored twice and no deleted row remains. */
  async compact(): Promise<void> {
    await this.db.compact('\0', '\xff');
  }
}
