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

/** LevelDB's memory for what is not in a table file yet. */
const WRITE_BUFFER_BYTES = 16 << 20;
/** Threads that read at once: those of the pool. A disk answers several as fast as one. */
const READERS = 4;
/** Fewer rows are not worth a thread of their own. */
const ROWS_A_READER = 8;
/** Records of fewer bytes are read one by one: some tens of rows, which costs less than the way to a thread. */
const THREAD_BYTES = 2048;
/** The one position that is wanted of one key. */
const FIRST = [0];
export interface RowStoreOptions {
  /** Folder of the LevelDB files. */
  path: string;
  /** LevelDB's own block cache. */
  cacheBytes: number;
  /** Rows that stay in memory after they were written; none when absent. */
  recent?: RowCachesOptions;
  /** The most that one batch carries (`-dbbatchsize`); more goes through the journal. At most `MAX_BATCH_BYTES`. */
  batchBytes?: number;
  /** Called at named points of a flush; tests kill the process there. */
  onPoint?: (name: string) => void;
  /** Key of a row that every database of ours has from its first flush on; `open` refuses one that lacks it. */
  mark?: string;
}

/** The database has rows, but not those of this program. */
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
  /** Below the overlay, above the database. */
  private readonly recent: RowCaches;
  /** Whether committed rows are in the staging area, between overlay and main rows. */
  private stageCommitted = false;
  private open_: Transaction | null = null;
  /** The overlay is being walked: what joined it now would be lost. */
  private flushing = false;
  /** Settles when files that lost much are rewritten; never rejects. */
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
   * Opens the database and finishes or forgets an interrupted flush. Throws `ForeignDatabaseError`, having changed no
   * row, when another program made it.
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
   * Closes and opens the database files. LevelDB keeps what it has open in memory, whole files where it maps them: after
   * a walk over much that will not be read again this gives the memory back. Nothing may be reading meanwhile.
   */
  async reopen(): Promise<void> {
    await this.packing;
    await this.db.close();
    await this.db.open();
  }

  /** About how many bytes the rows whose key starts with `prefix` take in LevelDB's files. */
  sizeOnDisk(prefix: string): Promise<number> {
    return this.db.approximateSize(prefix, prefixEnd(prefix));
  }

  /** Bytes of committed rows that are not in LevelDB yet. */
  get dirtyBytes(): number {
    return this.overlay.sizeBytes;
  }

  /** Bytes of rows that are kept in memory after they were written. */
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

  /** Reads `missing` positions of `keys` below the overlay. */
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

  /** Takes from the recent rows what they know; answers the positions that the database must be asked for. */
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
   * Reads what the system has in memory without the trip to a thread, which costs as much as several rows. What is not
   * come to, because rows had to be waited for, threads read after all.
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

  /** The value at once, null for none; undefined when it must be waited for, which happens only after a spill. */
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

  /** Packed values of the keys of records, whose kinds are not among the recent rows; null if rows must be asked for. */
  packedValues(records: Buffer): MaybePromise<Buffer> | null {
    if (this.stageCommitted || !this.overlay.readRecords || !this.db.getUnknown) return null;
    const { values, unknown } = this.overlay.readRecords(records);
    if (unknown === 0 || this.disk.diskEmpty) return values;
    return records.length < THREAD_BYTES ? null : this.db.getUnknown(records, values);
  }

  getRangeNow(range: RowRange): [string, Bytes][] | null {
    // What is in memory of a walk and what the database has are of one moment only when both are read in it.
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

  /** Grows with every commit: what other threads read while it stays the same is of one moment. */
  get commits(): number {
    return this.overlay.changes;
  }

  /** How other threads read the committed rows, except for those of `mustFlush`; null if they cannot. */
  share(): SharedRowsId | null {
    const rows = this.overlay.share();
    const database = this.db.share();
    return rows === null || database === null ? null : { rows, database, path: this.path };
  }

  /** Starts the one transaction that may be open. */
  begin(): Transaction {
    assert(this.open_ === null, 'a row transaction is open already');
    this.open_ = new Transaction(this);
    return this.open_;
  }

  /** Whether a committed transaction spilled: its rows count, but the next transaction may spill only after a flush. */
  get mustFlush(): boolean {
    return this.stageCommitted;
  }

  /** Makes the transaction's rows the committed ones. */
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

  /** Writes a row straight into the committed state. */
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

  /** Moves rows of an open transaction to the staging area. The overlay must be empty then: flush first. */
  async spill(rows: KeyedRows): Promise<void> {
    assert(this.overlay.count === 0, 'a transaction may spill only over a flushed store');
    // What is spilled reaches the database without passing the overlay.
    this.recent.clear();
    await this.disk.stage(rows);
  }

  /**
   * Brings every committed row, and those of `source`, to disk as one atomic step.
   * `sourceBytes` says how much the source holds. Nothing may be committed, put or deleted until this resolves.
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

  /** The committed rows on their way to the database, as records. */
  private *settling(maxBytes: number): Generator<Buffer> {
    for (const records of this.overlay.records(maxBytes)) {
      this.recent.setRecords(records);
      yield records;
    }
  }

  /** Deletes whole key ranges that no reader needs any more (history behind its window). */
  async dropRange(gte: string, lt: string): Promise<void> {
    this.recent.forget(gte, lt);
    await this.db.deleteRange(gte, lt);
  }

  /**
   * Starts to write again the files of a range in which much was deleted and nothing will be written, where LevelDB would
   * not come by for long: they give the disk back. Goes on in the background; only the store's end waits for it. LevelDB
   * returns its errors to the next writer.
   */
  packRange(gte: string, lt: string): void {
    const pack = (): Promise<void> => this.db.compact(gte, lt);
    this.packing = this.packing.then(pack).catch(() => undefined);
  }

  /** LevelDB's estimate of the bytes on disk between two keys. */
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

  /** LevelDB's table files by level and what merging them took, as lines of text. */
  tableStats(): string {
    return this.db.stats();
  }

  /** Merges all table files, so that no row is kept twice nor one that is deleted. */
  async compact(): Promise<void> {
    await this.db.compact('\0', '\xff');
  }
}
