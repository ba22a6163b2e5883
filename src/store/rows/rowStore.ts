/**
 * The database of the node: LevelDB below a write-back overlay (committed rows in memory). Owns the overlay, reads through
 * all layers, and the staging area of very large transactions (`rowTransaction.ts`). Rows reach LevelDB only by the atomic
 * flush (`databaseWriter.ts`). The meaning of the rows is unknown here.
 */
import type { Bytes } from '../../util/bytes.js';
import type { MaybePromise } from '../../util/maybePromise.js';
import { assert } from '../../util/assert.js';
import { DatabaseWriter, MAX_BATCH_BYTES, type DirtySource } from '../leveldb/databaseWriter.js';
import type { KeyedRows } from './keyedRows.js';
import { FILE_BYTES, OPEN_FILES, TABLE_INDEX_SHARE, type LevelDb } from '../leveldb/levelDb.js';
import { loadNative } from '../../native/binding.js';
import { makeLevelDb } from '../leveldb/makeLevelDb.js';
import { fromArray, inOrder, mergeLayers, mergeRows, reaching, type Layer } from './mergeLayers.js';
import { createMemtable } from '../cache/createMemtable.js';
import { RowCaches, type RowCachesOptions } from '../cache/rowCache.js';
import { OpenTransaction, type TransactionGround } from './rowTransaction.js';
import {
  collectRows,
  prefixEnd,
  type RowRange,
  type RowReader,
  type RowSource,
  type RowTables,
} from './rows.js';
import type { SharedRowsId } from '../cache/sharedRows.js';
import { databaseRange, stagedKey, stagedRow } from '../leveldb/stagedRows.js';

/** Size in bytes of LevelDB's write buffer, for rows that are not in a table file yet. */
const WRITE_BUFFER_BYTES = 16 << 20;
/** Number of concurrent reads, which equals the number of threads in the pool. A disk serves several reads in the time of one. */
const READERS = 4;
/** Minimum number of rows for each thread. If fewer rows are read, they are not divided among threads. */
const ROWS_A_READER = 8;
/**
 * Minimum size in bytes of records whose rows are read on a thread. The rows of shorter records are read on the caller's
 * thread, because a call to another thread takes longer than reading some tens of rows.
 */
const THREAD_BYTES = 2048;
/**
 * Free bytes in the heap of the C library that are returned after a flush. A flush leaves many free pages that LevelDB used
 * for its write buffers.
 */
const WORTH_RETURNING_BYTES = 16 << 20;
/** List of positions for the read of a single key. */
const FIRST = [0];
export interface RowStoreOptions {
  /** Folder of the LevelDB files. */
  path: string;
  /** Size in bytes of LevelDB's own block cache. */
  cacheBytes: number;
  /** Sizes of the row caches. If absent, rows are not cached. */
  recent?: RowCachesOptions;
  /** Maximum size in bytes of one batch (`-dbbatchsize`), at most `MAX_BATCH_BYTES`. Larger flushes use the journal. */
  batchBytes?: number;
  /** Row types that are put only while the database has no row with the same key (`Memtable.declareNew`). */
  newKinds?: string;
  /** Row types that are read by ranges only (`LevelDbOptions.rangeKinds`). */
  rangeKinds?: string;
  /** Called at named points of a flush, at which tests kill the process. */
  onPoint?: (name: string) => void;
  /**
   * Key of a row that every database of this program contains after its first flush. `open` rejects a database without this
   * row.
   */
  mark?: string;
}

/** Thrown if the database contains rows, but was created by another program. */
export class ForeignDatabaseError extends Error {
  override readonly name = 'ForeignDatabaseError';
}

/** Returns free pages of the C library's heap to the system, on another thread. Does nothing without the addon. */
function returnFreeHeap(): void {
  const native = loadNative();
  const usage = native?.heapUsage();
  if (native && usage && usage.freeBytes > WORTH_RETURNING_BYTES) native.trimHeap().catch(() => undefined);
}

export class RowStore implements RowReader, TransactionGround {
  private readonly path: string;
  private readonly db: LevelDb;
  /** Maximum size in bytes of the block cache of LevelDB. */
  private readonly cacheBytes: number;
  private readonly disk: DatabaseWriter;
  private readonly overlay = createMemtable();
  /** Row caches. They are searched after the overlay and before the database. */
  private readonly recent: RowCaches;
  /** Whether committed rows are in the staging area. They are read after the overlay and before the main rows. */
  private stageCommitted = false;
  private isClosed = false;
  private open_: OpenTransaction | null = null;
  /** Whether the overlay is being flushed. A row that is added during the flush would be lost, so `refuseInFlush` throws. */
  private flushing = false;
  /** Resolves when the compactions that `packRange` started have finished. Never rejects. */
  private packing: Promise<unknown> = Promise.resolve();
  /** Flushes all committed rows. Called before a transaction writes rows to disk for the first time. */
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
    if (options.newKinds !== undefined) this.overlay.declareNew(options.newKinds);
    this.recent = new RowCaches(options.recent ?? { shares: {}, maxBytes: 0 });
  }

  /**
   * Opens the database, and finishes or discards an interrupted flush. Throws `ForeignDatabaseError`, without changing rows,
   * if another program created the database.
   */
  static async open(options: RowStoreOptions): Promise<RowStore> {
    const db = makeLevelDb(options.path, {
      cacheBytes: options.cacheBytes,
      writeBufferBytes: WRITE_BUFFER_BYTES,
      rangeKinds: options.rangeKinds ?? '',
    });
    await db.open();
    const store = new RowStore(db, options);
    try {
      if (options.mark !== undefined && !(await store.disk.bears(options.mark)))
        throw new ForeignDatabaseError(`${options.path} was created by another program`);
      await store.disk.recover();
    } catch (error) {
      await db.close();
      throw error;
    }
    return store;
  }

  /** Closes the database. A second call has no effect. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.packing;
    await this.db.close();
  }

  /**
   * Closes and opens the database files. LevelDB keeps open files in memory, whole files if it maps them. So reopening frees
   * memory after an iteration over many rows that are not needed again. The caller must not read rows during the call.
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

  /** Size in bytes of the committed rows that are not in LevelDB yet. */
  get dirtyBytes(): number {
    return this.overlay.sizeBytes;
  }

  /** Number of bytes of memory that the row caches use. */
  get recentBytes(): number {
    return this.recent.sizeBytes;
  }

  /** Maximum memory of the row caches in bytes. A flush fills them with rows of the overlay. */
  get recentMaxBytes(): number {
    return this.recent.maxBytes;
  }

  /** Changes the maximum memory of the row caches. */
  resizeRecent(maxBytes: number): void {
    this.recent.resize(maxBytes);
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

  /** Reads rows from the row caches and the database. `missing` contains the positions in `keys` of the rows to read. */
  async fillFromDisk(
    keys: readonly string[],
    missing: readonly number[],
    out: (Bytes | undefined)[],
    throughStage: boolean,
    fillCache = true,
  ): Promise<void> {
    let rest = missing.filter((i) => !this.disk.lacks(keys[i]!));
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

  /** Reads rows from the row caches. Returns the positions that must be read from the database. */
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
   * Reads rows on this thread, because a call to another thread costs as much as several rows from the page cache. If a row
   * was not in memory, other threads read the remaining rows.
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

  /**
   * Reads one row synchronously. Null for a missing row; undefined if the row cannot be read synchronously, which happens
   * only after a transaction has spilled.
   */
  getNow(key: string): Bytes | null | undefined {
    const row = this.overlay.get(key);
    if (row !== undefined) return row;
    if (this.stageCommitted) return undefined;
    if (this.disk.lacks(key)) return null;
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
    if (this.disk.lacks(key)) return undefined;
    const staged = throughStage ? this.readNow(stagedKey(key)) : undefined;
    if (staged !== undefined) return stagedRow(staged) ?? undefined;
    const recent = this.recent.get(key);
    return recent === undefined ? this.readNow(key) : (recent ?? undefined);
  }

  tablesOf(kind: string): RowTables | null {
    const overlay = this.overlay.native;
    return this.stageCommitted || !overlay ? null : { overlay, recent: this.recent.nativeOf(kind) };
  }

  sourceOf(kinds: string): RowSource | null {
    const { overlay, recent, db, disk } = this;
    if (this.stageCommitted || !overlay.native || !db.native) return null;
    const lacking = [...kinds].filter((kind) => disk.lacks(kind)).length;
    if (lacking > 0 && lacking < kinds.length) return null;
    const database = lacking > 0 ? null : db.native;
    return { overlay: overlay.native, cacheOf: (kind) => recent.nativeOf(kind), database };
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
      if (row === undefined) {
        if (!this.disk.lacks(keys[i]!)) missing.push(i);
      } else if (row !== null) out[i] = row;
    }
    if (missing.length === 0) return out;
    if (this.stageCommitted) return null;
    const wanted = this.notRecent(keys, missing, out);
    return wanted.length === 0 || this.db.getNow(keys, wanted, out, true) === wanted.length ? out : null;
  }

  /**
   * Returns the packed values for the keys of records. The row types of these keys must not be in the row caches. Null if
   * the caller must read single rows instead.
   */
  packedValues(records: Buffer): MaybePromise<Buffer> | null {
    if (this.stageCommitted || !this.overlay.readRecords || !this.db.getUnknown) return null;
    const { values, unknown } = this.overlay.readRecords(records);
    if (unknown === 0 || this.disk.diskEmpty) return values;
    const isShort = records.length < THREAD_BYTES;
    return (isShort ? this.db.getUnknownNow?.(records, values) : null) ?? this.db.getUnknown(records, values);
  }

  getRangeNow(range: RowRange): [string, Bytes][] | null {
    // Rows of the staging area can only be read asynchronously. The layers that are read could then belong to different
    // states.
    if (this.stageCommitted) return null;
    const own = this.overlay.slice(range);
    const rows = this.disk.lacksRange(range.gte, range.lt)
      ? []
      : this.db.rangeNow(reaching(range, own.length));
    return rows === null ? null : own.length === 0 ? rows : mergeRows(range, inOrder(own, range), rows);
  }

  async getRange(range: RowRange): Promise<[string, Bytes][]> {
    return this.getRangeNow(range) ?? collectRows(this.range(range));
  }

  range(range: RowRange): AsyncIterable<[string, Bytes]> {
    return mergeLayers(range, this.layers(this.stageCommitted));
  }

  /**
   * The layers of committed rows, the newest first. The limit of a range must include the rows that newer layers can hide
   * (`reaching`).
   */
  layers(throughStage: boolean): Layer[] {
    const layers: Layer[] = [
      // No committed layer is above the overlay. So the rows with the first `limit` values are enough for the merge.
      (range) => fromArray(inOrder(this.overlay.slice(range), range)),
      (range) => databaseRange(this.db, range, false),
    ];
    if (throughStage) layers.splice(1, 0, (range) => databaseRange(this.db, range, true));
    return layers;
  }

  /**
   * Iterates over an ascending range in batches. The rows are those on disk at the first read. All committed rows must be
   * flushed before.
   */
  flushedBatches(range: RowRange, batchRows: number): AsyncGenerator<[string, Bytes][]> {
    assert(this.overlay.count === 0 && !this.stageCommitted, 'rows in batches are read from a flushed store');
    return this.db.iterateBatches(range, batchRows);
  }

  /**
   * Counter that increases with every commit. Rows that another thread reads while the counter is unchanged belong to one
   * state.
   */
  get commits(): number {
    return this.overlay.changes;
  }

  /**
   * Identifies the committed rows for reads by other threads. Rows in the staging area are not included (`mustFlush`). Null
   * if threads cannot read the database.
   */
  share(): SharedRowsId | null {
    const rows = this.overlay.share();
    const database = this.db.share();
    return rows === null || database === null ? null : { rows, database, path: this.path };
  }

  /** Starts a transaction. Only one transaction may be open at a time. */
  begin(): OpenTransaction {
    assert(this.open_ === null, 'a row transaction is open already');
    this.open_ = new OpenTransaction(this);
    return this.open_;
  }

  /**
   * Whether a committed transaction has rows in the staging area. These rows are valid, but the next transaction may spill
   * only after a flush.
   */
  get mustFlush(): boolean {
    return this.stageCommitted;
  }

  /** Commits the rows of the transaction, so that all readers see them. */
  commit(transaction: OpenTransaction): void {
    assert(this.open_ === transaction, 'commit of a transaction that is not open');
    this.refuseInFlush();
    this.overlay.change(() => transaction.rows.copyTo(this.overlay));
    this.stageCommitted ||= transaction.spilled;
    this.open_ = null;
  }

  async discard(transaction: OpenTransaction): Promise<void> {
    assert(this.open_ === transaction, 'discard of a transaction that is not open');
    this.open_ = null;
    if (transaction.spilled) await this.disk.clearStage();
  }

  /** Writes one row directly, without a transaction. */
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

  /**
   * Moves rows of an open transaction to the staging area. The overlay must be empty, so all committed rows must be flushed
   * before.
   */
  async spill(rows: KeyedRows): Promise<void> {
    assert(this.overlay.count === 0, 'a transaction may spill only over a flushed store');
    // Rows in the staging area reach the database without passing the row caches, so the caches would become stale.
    this.recent.clear();
    await this.disk.stage(rows);
  }

  /**
   * Writes all committed rows, and those of `source`, to disk as one atomic step. `sourceBytes` is the approximate size of
   * the source. Rows must not be committed, put or deleted until the promise resolves.
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
    returnFreeHeap();
  }

  /** Iterates over the committed rows as records, for the flush. */
  private *settling(maxBytes: number): Generator<Buffer> {
    for (const records of this.overlay.records(maxBytes)) {
      this.recent.setRecords(records);
      yield records;
    }
  }

  /**
   * Declares that the keys of all rows begin with one of these characters. Until the next flush, other keys are not searched
   * on disk.
   */
  declareKinds(kinds: string): void {
    this.disk.onlyKinds = kinds;
  }

  /** Deletes the rows of a key range. No reader may need these rows any more (for instance history outside its window). */
  async dropRange(gte: string, lt: string): Promise<void> {
    this.recent.forget(gte, lt);
    await this.db.deleteRange(gte, lt);
  }

  /**
   * Starts a compaction of a key range in which many rows were deleted and none will be written, to free disk space. Without
   * it, LevelDB would compact the range only much later. The compaction runs in the background, and only `close` waits for
   * it. LevelDB reports a compaction error at the next write.
   */
  packRange(gte: string, lt: string): void {
    const pack = (): Promise<void> => this.db.compact(gte, lt);
    this.packing = this.packing.then(pack).catch(() => undefined);
  }

  /** LevelDB's estimate of the disk space between two keys. */
  async approximateSize(gte: string, lt: string): Promise<number> {
    return this.db.approximateSize(gte, lt);
  }

  /** Memory in bytes of LevelDB's block cache and its two write buffers, and the maximum. */
  get databaseMemory(): { readonly bytes: number; readonly maxBytes: number } {
    return { bytes: this.db.memoryBytes, maxBytes: this.cacheBytes + 2 * WRITE_BUFFER_BYTES };
  }

  /** Estimated number of bytes of memory for the indexes and filters of the open table files, and the maximum. */
  async tableIndexMemory(): Promise<{ readonly bytes: number; readonly maxBytes: number }> {
    const maxBytes = OPEN_FILES * FILE_BYTES * TABLE_INDEX_SHARE;
    const onDisk = await this.db.approximateSize('', '\xff');
    return { bytes: Math.min(maxBytes, Math.round(onDisk * TABLE_INDEX_SHARE)), maxBytes };
  }

  /** Table files of LevelDB by level, and the cost of compactions, as lines of text. */
  tableStats(): string {
    return this.db.stats();
  }

  /** Compacts all table files. After that each row is stored once, and deleted rows are not stored. */
  async compact(): Promise<void> {
    await this.db.compact('\0', '\xff');
  }
}
