/**
 * The one database: LevelDB below a write-back overlay. Owns the overlay, the staging area of very large transactions
 * (`rowTransaction.ts`) and the atomic flush. Does not know what the rows mean.
 *
 * Crash safety: rows reach LevelDB only in `flush`, which moves the database from one consistent state to the next.
 * Up to 16 MiB travel in one atomic batch. More goes first into a journal file which ends with a commit record, then
 * from there into LevelDB in batches of at most 16 MiB; a crash before the commit record leaves the old state, one
 * after it is repaired by applying the journal again (puts and deletes are idempotent).
 */
import { EMPTY_BYTES, type Bytes } from '../util/bytes.js';
import { assert } from '../util/assert.js';
import { breathe } from '../util/breathe.js';
import { systemErrorCode } from '../util/environmentError.js';
import { noteDurable } from './databaseCheck.js';
import { FlushJournal, type JournalOp } from './flushJournal.js';
import { PREFIX } from './keys.js';
import { DatabaseDamagedError, type LevelDb } from './levelDb.js';
import { makeLevelDb } from './makeLevelDb.js';
import type { KeyedRows } from './keyedRows.js';
import { fromArray, inOrder, mergeLayers, mergeRows, reaching, type Layer } from './mergeLayers.js';
import { RecentRows, type RecentRowsOptions } from './recentRows.js';
import { RecordWriter, type RowChange } from './rowRecords.js';
import { createRowTable } from './rowTable.js';
import { Transaction, type TransactionGround } from './rowTransaction.js';
import { collectRows, prefixEnd, type RowRange, type RowReader } from './rows.js';

/** The most that one LevelDB batch carries (design.md). */
export const MAX_BATCH_BYTES = 16 << 20;
/** What is written at once where that is no matter of atomicity: batches are memory which LevelDB frees late. */
const PIECE_BYTES = 2 << 20;
/** LevelDB's memory for what is not in a table file yet. */
const WRITE_BUFFER_BYTES = 16 << 20;
/** Threads that read at once: those of the pool. A disk answers several as fast as one. */
const READERS = 4;
/** Fewer rows are not worth a thread of their own. */
const ROWS_A_READER = 8;
/** The one position that is wanted of one key. */
const FIRST = [0];
/** In the database from the first to the last batch that is applied from a journal: without the journal it is half. */
const APPLYING_KEY = `${PREFIX.meta}applying`;
/** What makes a batch of its own out of nothing but the wish to have all before it on disk. */
const FLUSHED_KEY = `${PREFIX.meta}flushed`;

export interface RowStoreOptions {
  /** Folder of the LevelDB files. */
  path: string;
  /** LevelDB's own block cache. */
  cacheBytes: number;
  /** Rows that stay in memory after they were written; none when absent. */
  recent?: RecentRowsOptions;
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

/** Produces the dirty rows of a cache outside the overlay (the coins) in pieces of at most `maxBytes`; null at the end. */
export type DirtySource = (maxBytes: number) => JournalOp[] | null;

export class RowStore implements RowReader, TransactionGround {
  private readonly path: string;
  private readonly db: LevelDb;
  private readonly journal: FlushJournal;
  private readonly onPoint: (name: string) => void;
  private readonly batchBytes: number;
  private readonly pieceBytes: number;
  private readonly overlay = createRowTable();
  /** Below the overlay, above the database. */
  private readonly recent: RecentRows;
  /** Whether committed rows lie in the staging area, between overlay and main rows. */
  private stageCommitted = false;
  private open_: Transaction | null = null;
  /** The overlay is being walked: what joined it now would be lost. */
  private flushing = false;
  /** Settles when files that lost much are written anew; never rejects. */
  private packing: Promise<unknown> = Promise.resolve();
  /** Nothing was ever written: as long as that holds no look-up needs the disk. */
  private diskEmpty = true;
  /** Flushes everything committed; called before a transaction spills for the first time. */
  beforeSpill: () => Promise<void> = () => this.flush();

  private constructor(db: LevelDb, options: RowStoreOptions) {
    this.path = options.path;
    this.db = db;
    this.onPoint = options.onPoint ?? (() => {});
    this.batchBytes = Math.min(MAX_BATCH_BYTES, options.batchBytes ?? MAX_BATCH_BYTES);
    this.pieceBytes = Math.min(PIECE_BYTES, this.batchBytes);
    this.recent = new RecentRows(options.recent ?? { shares: {}, maxBytes: 0 });
    this.journal = new FlushJournal(`${options.path}.journal`);
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
      if (options.mark !== undefined && !(await store.bears(options.mark)))
        throw new ForeignDatabaseError(`${options.path} was made by another program`);
      await store.recover();
    } catch (error) {
      await db.close();
      throw error;
    }
    return store;
  }

  /** Whether the database is empty, has this row, or was getting what its first flush had. */
  private async bears(mark: string): Promise<boolean> {
    if (await this.isEmpty()) return true;
    for (const key of [mark, APPLYING_KEY]) if ((await this.db.get(key)) !== undefined) return true;
    return this.journal.isCommitted();
  }

  private async isEmpty(): Promise<boolean> {
    const everything = { gte: '', lt: '\xff\xff', limit: 1 };
    for await (const _row of this.db.iterate(everything)) return false;
    return true;
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
    if (this.diskEmpty) return;
    let rest = missing;
    if (throughStage) {
      const staged = await this.db.getMany(
        rest.map((i) => PREFIX.stage + keys[i]!),
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
    if (this.diskEmpty) return null;
    const recent = this.recent.get(key);
    return recent === undefined ? (this.readNow(key) ?? null) : recent;
  }

  private readNow(key: string): Bytes | undefined {
    const out: (Bytes | undefined)[] = [];
    this.db.getNow([key], FIRST, out, true);
    return out[0];
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
    if (this.diskEmpty) return out;
    const wanted = this.notRecent(keys, missing, out);
    return wanted.length === 0 || this.db.getNow(keys, wanted, out, true) === wanted.length ? out : null;
  }

  getRangeNow(range: RowRange): [string, Bytes][] | null {
    // What is in memory of a walk and what the database has are of one moment only when both are read in it.
    if (this.stageCommitted) return null;
    const own = this.overlay.slice(range);
    const rows = this.diskEmpty ? [] : this.db.rangeNow(reaching(range, own.length));
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
      (range) => this.diskRange(range, ''),
    ];
    if (throughStage) layers.splice(1, 0, (range) => this.diskRange(range, PREFIX.stage));
    return layers;
  }

  /** Rows on disk whose key starts with `prefix`, the prefix removed; staged rows are decoded. */
  private async *diskRange(range: RowRange, prefix: string): AsyncGenerator<[string, Bytes | null]> {
    const { gte, lt, reverse = false, limit } = range;
    // Without the limit: how many of these rows others hide is not known here.
    const rows = this.db.iterate({ gte: prefix + gte, lt: prefix + lt, reverse }, limit);
    if (prefix === '') yield* rows;
    else for await (const [key, value] of rows) yield [key.slice(prefix.length), stagedRow(value)];
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
    for (const [key, value] of transaction.rows.entries()) this.overlay.set(key, value);
    this.stageCommitted ||= transaction.spilled;
    this.open_ = null;
  }

  async discard(transaction: Transaction): Promise<void> {
    assert(this.open_ === transaction, 'discard of a transaction that is not open');
    this.open_ = null;
    if (transaction.spilled) await this.clearStage();
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
    this.diskEmpty = false;
    assert(this.overlay.count === 0, 'a transaction may spill only over a flushed store');
    // What is spilled reaches the database without passing the overlay.
    this.recent.clear();
    const records = new RecordWriter();
    for (const [key, value] of rows.entries()) {
      const staged = Buffer.allocUnsafe(value === null ? 1 : value.length + 1);
      staged[0] = value === null ? 0 : 1;
      if (value !== null) staged.set(value, 1);
      records.add(PREFIX.stage + key, staged);
      if (records.sizeBytes >= this.pieceBytes) await this.write([records.take()], false);
    }
    await this.write([records.take()], false);
    rows.clear();
  }

  /**
   * Brings every committed row, and those of `source`, to disk as one atomic step.
   * `sourceBytes` says how much the source holds. Nothing may be committed, put or deleted until this resolves.
   */
  async flush(source: DirtySource = () => null, sourceBytes = 0): Promise<void> {
    this.refuseInFlush();
    this.flushing = true;
    await this.flushRows(source, sourceBytes).finally(() => {
      this.flushing = false;
    });
  }

  private async flushRows(source: DirtySource, sourceBytes: number): Promise<void> {
    const staged = this.stageCommitted;
    if (!staged && this.overlay.sizeBytes + sourceBytes <= this.batchBytes) {
      this.onPoint('flush:before-batch');
      await this.write(await this.batchOf(source), true);
      this.onPoint('flush:after-batch');
    } else {
      // What lies in the staging area must be on disk before the journal says that it counts.
      if (staged) await this.makeDurable([]);
      this.onPoint('flush:before-journal');
      await this.journal.begin(staged, this.pieceBytes);
      for (const records of this.settling()) await this.journal.appendRecords(records);
      this.onPoint('flush:in-journal');
      await this.journal.append(opsOf(source, this.pieceBytes));
      // Whoever applies the journal, a version that does not know the mark too, takes it away with the last piece.
      await this.journal.append([[APPLYING_KEY, null]]);
      await this.journal.commit();
      this.onPoint('flush:journal-committed');
      await this.applyJournal(staged);
    }
    this.overlay.clear();
    this.stageCommitted = false;
  }

  /** Every committed row, and those of `source`, as records. */
  private async batchOf(source: DirtySource): Promise<Buffer[]> {
    const pieces: Buffer[] = [];
    let since: number = performance.now();
    for (const records of this.settling()) {
      pieces.push(Buffer.from(records));
      since = await breathe(since);
    }
    const writer = new RecordWriter();
    for (let more = source(PIECE_BYTES); more !== null; more = source(PIECE_BYTES)) {
      for (const op of more) writer.add(op.key, op.type === 'put' ? op.value : null);
      since = await breathe(since);
    }
    pieces.push(writer.take());
    return pieces;
  }

  /** The committed rows on their way to the database, as records. */
  private *settling(): Generator<Buffer> {
    for (const records of this.overlay.records(this.pieceBytes)) {
      this.recent.setRecords(records);
      yield records;
    }
  }

  private async recover(): Promise<void> {
    this.diskEmpty = await this.isEmpty();
    const isHalf = !this.diskEmpty && (await this.db.get(APPLYING_KEY)) !== undefined;
    const isCommitted = await this.journal.isCommitted().catch((error: unknown) => {
      // A folder or a pipe in its place holds the other half no more than nothing does.
      if (isHalf && ['EISDIR', 'EFTYPE'].includes(systemErrorCode(error) ?? '')) return false;
      throw error;
    });
    if (isCommitted) await this.applyJournal(await this.journal.includesStage());
    else if (isHalf) {
      throw new DatabaseDamagedError(
        this.path,
        `a crash left it half written, and ${this.journal.path}, which holds the other half, is missing or damaged`,
      );
    } else {
      await this.journal.remove();
      await this.clearStage();
    }
    // What LevelDB found in its logs it has brought to tables.
    if (!this.diskEmpty) await noteDurable(this.path);
  }

  private async applyJournal(withStage: boolean): Promise<void> {
    const marks = new RecordWriter();
    marks.add(APPLYING_KEY, EMPTY_BYTES);
    await this.write([marks.take()], false);
    if (withStage) await this.applyStage();
    for await (const records of this.journal.read()) {
      await this.write([records], false);
      this.onPoint('flush:applying-journal');
    }
    marks.add(APPLYING_KEY, null);
    await this.makeDurable([marks.take()]);
    await this.clearStage();
    this.onPoint('flush:before-journal-removal');
    await this.journal.remove();
  }

  private async applyStage(): Promise<void> {
    const records = new RecordWriter();
    for await (const [key, staged] of this.diskRange({ gte: '', lt: '\xff\xff' }, PREFIX.stage)) {
      records.add(key, staged);
      if (records.sizeBytes < this.pieceBytes) continue;
      await this.write([records.take()], false);
      this.onPoint('flush:applying-stage');
    }
    await this.write([records.take()], false);
  }

  /** One atomic batch; `sync` brings it, and all before it, to disk. */
  private async write(records: readonly Buffer[], sync: boolean): Promise<void> {
    if (records.every((piece) => piece.length === 0)) return;
    this.diskEmpty = false;
    await this.db.write(records, { sync });
    if (sync) await noteDurable(this.path);
  }

  /** The same for a batch that may be empty. */
  private async makeDurable(records: readonly Buffer[]): Promise<void> {
    const mark = new RecordWriter();
    mark.add(FLUSHED_KEY, EMPTY_BYTES);
    await this.write([...records, mark.take()], true);
  }

  private async clearStage(): Promise<void> {
    await this.db.deleteRange(PREFIX.stage, prefixEnd(PREFIX.stage));
  }

  /** Deletes whole key ranges that no reader needs any more (history behind its window). */
  async dropRange(gte: string, lt: string): Promise<void> {
    this.recent.forget(gte, lt);
    await this.db.deleteRange(gte, lt);
  }

  /**
   * Starts to write anew the files of a range in which much was deleted and nothing will be written, where LevelDB would
   * not come by for long: they give the disk back. Goes on in the background; only the store's end waits for it. What
   * goes wrong in it LevelDB answers to the next who writes.
   */
  packRange(gte: string, lt: string): void {
    const pack = (): Promise<void> => this.db.compact(gte, lt);
    this.packing = this.packing.then(pack).catch(() => undefined);
  }

  /** LevelDB's estimate of the bytes on disk between two keys. */
  async approximateSize(gte: string, lt: string): Promise<number> {
    return this.db.approximateSize(gte, lt);
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

/** What a cache outside the overlay has to say, a change at a time. */
function* opsOf(source: DirtySource, maxBytes: number): Generator<RowChange> {
  for (let more = source(maxBytes); more !== null; more = source(maxBytes)) {
    for (const op of more) yield [op.key, op.type === 'put' ? op.value : null];
  }
}

/** What a row of the staging area stands for: a row, or the deletion of one. */
function stagedRow(staged: Bytes): Bytes | null {
  return staged[0] === 1 ? staged.subarray(1) : null;
}
