/**
 * The one database: LevelDB below a write-back overlay. Owns the overlay, the transactions on top of it, the staging
 * area of very large transactions and the atomic flush. Does not know what the rows mean.
 *
 * Crash safety: rows reach LevelDB only in `flush`, which moves the database from one consistent state to the next.
 * Up to 16 MiB travel in one atomic batch. More goes first into a journal file which ends with a commit record, then
 * from there into LevelDB in batches of at most 16 MiB; a crash before the commit record leaves the old state, one
 * after it is repaired by applying the journal again (puts and deletes are idempotent).
 */
import { asBuffer, fromLatin1, toLatin1, type Bytes } from '../util/bytes.js';
import { assert } from '../util/assert.js';
import { breathe } from '../util/breathe.js';
import { FlushJournal, type JournalOp } from './flushJournal.js';
import { PREFIX } from './keys.js';
import { makeLevelDb, type LevelDb } from './levelDb.js';
import { fromArray, mergeLayers, type Layer } from './mergeLayers.js';
import { KeyedRows } from './keyedRows.js';
import { RecentRows, type RecentRowsOptions } from './recentRows.js';
import { changesOf, type RowChange } from './rowRecords.js';
import { createRowTable } from './rowTable.js';
import { collectRows, prefixEnd, type RowRange, type RowReader, type RowTransaction } from './rows.js';

/** The most that one LevelDB batch carries (design.md). */
export const MAX_BATCH_BYTES = 16 << 20;
/** What is written at once where that is no matter of atomicity: batches are memory which LevelDB frees late. */
const PIECE_BYTES = 2 << 20;
/** LevelDB's memory for what is not in a table file yet. */
const WRITE_BUFFER_BYTES = 16 << 20;
/** The longest that rows are read on the event loop; what is left is read by threads. */
const READ_NOW_MS = 1;
/** A row that took longer was not in memory, nor will the next ones be. */
const SLOW_ROW_MS = 0.1;
/** Threads that read at once: those of the pool. A disk answers several as fast as one. */
const READERS = 4;
/** Fewer rows are not worth a thread of their own. */
const ROWS_A_READER = 8;
/** An uncommitted transaction beyond this spills to the staging area when it calls `relieve`. */
const SPILL_BYTES = 48 << 20;
const RANGE_CHUNK = 256;
/** Rows between two looks at the clock. Arbitrary, some tenths of a millisecond. */
const ROWS_A_LOOK = 256;

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

type Batch = ReturnType<LevelDb['batch']>;

export class RowStore implements RowReader {
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
    if (options.mark === undefined || (await store.bears(options.mark))) await store.recover();
    else {
      await db.close();
      throw new ForeignDatabaseError(`${options.path} was made by another program`);
    }
    return store;
  }

  /** Whether the database is empty, has this row, or is about to get what its first flush had. */
  private async bears(mark: string): Promise<boolean> {
    if ((await this.db.keys({ limit: 1 }).all()).length === 0) return true;
    return (await this.db.get(fromLatin1(mark))) !== undefined || (await this.journal.isCommitted());
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
    return this.db.approximateSize(fromLatin1(prefix), fromLatin1(prefixEnd(prefix)));
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
      const staged = await this.db.getMany(rest.map((i) => fromLatin1(PREFIX.stage + keys[i]!)));
      const lower: number[] = [];
      rest.forEach((i, at) => {
        const row = staged[at];
        if (row === undefined) lower.push(i);
        else if (row[0] === 1) out[i] = row.subarray(1);
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
        part.map((i) => fromLatin1(keys[i]!)),
        { fillCache },
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
    let now = performance.now();
    const until = now + READ_NOW_MS;
    for (let n = 0; n < wanted.length; n++) {
      const before = now;
      const i = wanted[n]!;
      const key = fromLatin1(keys[i]!);
      out[i] = fillCache ? this.db.getSync(key) : this.db.getSync(key, { fillCache });
      now = performance.now();
      if (now <= until && now - before < SLOW_ROW_MS) continue;
      await this.readOnThreads(keys, wanted.slice(n + 1), out, fillCache);
      return;
    }
  }

  getRange(range: RowRange): Promise<[string, Bytes][]> {
    return collectRows(this.range(range));
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
    const iterator = this.db.iterator({
      gte: fromLatin1(prefix + range.gte),
      lt: fromLatin1(prefix + range.lt),
      reverse: range.reverse ?? false,
    });
    try {
      for (let chunk = Math.min(RANGE_CHUNK, range.limit ?? RANGE_CHUNK); ; chunk = RANGE_CHUNK) {
        const rows = await iterator.nextv(chunk);
        if (rows.length === 0) return;
        for (const [key, value] of rows) {
          const name = toLatin1(key).slice(prefix.length);
          if (prefix === '') yield [name, value];
          else yield [name, value[0] === 1 ? value.subarray(1) : null];
        }
      }
    } finally {
      await iterator.close();
    }
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
    let batch: { type: 'put'; key: Buffer; value: Buffer }[] = [];
    let bytes = 0;
    for (const [key, value] of rows.entries()) {
      const staged = Buffer.allocUnsafe(value === null ? 1 : value.length + 1);
      staged[0] = value === null ? 0 : 1;
      if (value !== null) staged.set(value, 1);
      batch.push({ type: 'put', key: fromLatin1(PREFIX.stage + key), value: staged });
      bytes += key.length + staged.length + 32;
      if (bytes >= this.pieceBytes) {
        await this.db.batch(batch);
        batch = [];
        bytes = 0;
      }
    }
    if (batch.length > 0) await this.db.batch(batch);
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
      const batch = this.db.batch();
      for (const records of this.settling()) await fill(batch, changesOf(records));
      await fill(batch, opsOf(source, this.pieceBytes));
      await this.write(batch, true);
      this.onPoint('flush:after-batch');
    } else {
      this.onPoint('flush:before-journal');
      await this.journal.begin(staged, this.pieceBytes);
      for (const records of this.settling()) await this.journal.appendRecords(records);
      this.onPoint('flush:in-journal');
      await this.journal.append(opsOf(source, this.pieceBytes));
      await this.journal.commit();
      this.onPoint('flush:journal-committed');
      await this.applyJournal(staged);
    }
    this.overlay.clear();
    this.stageCommitted = false;
  }

  /** The committed rows on their way to the database, as records. */
  private *settling(): Generator<Buffer> {
    for (const records of this.overlay.records(this.pieceBytes)) {
      this.recent.setRecords(records);
      yield records;
    }
  }

  private async recover(): Promise<void> {
    this.diskEmpty = (await this.db.keys({ limit: 1 }).all()).length === 0;
    if (await this.journal.isCommitted()) await this.applyJournal(await this.journal.includesStage());
    else {
      await this.journal.remove();
      await this.clearStage();
    }
  }

  private async applyJournal(withStage: boolean): Promise<void> {
    if (withStage) await this.applyStage();
    // One batch is filled while the one before it is written.
    let written = Promise.resolve();
    for await (const changes of this.journal.read()) {
      const batch = this.db.batch();
      await fill(batch, changes);
      await written;
      written = this.write(batch, false);
      // Whoever waits for it hears of a failure; until then nobody does.
      written.catch(() => undefined);
      this.onPoint('flush:applying-journal');
    }
    await written;
    // An empty synced batch makes all batches before it durable.
    await this.db.put(fromLatin1(PREFIX.meta + 'flushed'), Buffer.alloc(0), { sync: true });
    await this.clearStage();
    this.onPoint('flush:before-journal-removal');
    await this.journal.remove();
  }

  private async applyStage(): Promise<void> {
    let batch = this.db.batch();
    let bytes = 0;
    const range = { gte: PREFIX.stage, lt: prefixEnd(PREFIX.stage) };
    for await (const [stagedKey, value] of this.diskRange(range, '')) {
      const key = fromLatin1(stagedKey.slice(1));
      if (value![0] === 1) batch.put(key, asBuffer(value!.subarray(1)));
      else batch.del(key);
      bytes += key.length + value!.length;
      if (bytes < this.pieceBytes) continue;
      await this.write(batch, false);
      this.onPoint('flush:applying-stage');
      batch = this.db.batch();
      bytes = 0;
    }
    await this.write(batch, false);
  }

  /** One atomic batch. The chained form costs half of what an array of operations does. */
  private async write(batch: Batch, sync: boolean): Promise<void> {
    if (batch.length === 0) return batch.close();
    this.diskEmpty = false;
    await batch.write({ sync });
  }

  private async clearStage(): Promise<void> {
    await this.db.clear({ gte: fromLatin1(PREFIX.stage), lt: fromLatin1(prefixEnd(PREFIX.stage)) });
  }

  /** Deletes whole key ranges that no reader needs any more (history behind its window). */
  async dropRange(gte: string, lt: string): Promise<void> {
    this.recent.forget(gte, lt);
    await this.db.clear({ gte: fromLatin1(gte), lt: fromLatin1(lt) });
  }

  /**
   * Starts to write anew the files of a range in which much was deleted and nothing will be written, where LevelDB would
   * not come by for long: they give the disk back. Goes on in the background; only the store's end waits for it. What
   * goes wrong in it LevelDB answers to the next who writes.
   */
  packRange(gte: string, lt: string): void {
    const pack = (): Promise<void> => this.db.compactRange(fromLatin1(gte), fromLatin1(lt));
    this.packing = this.packing.then(pack).catch(() => undefined);
  }

  /** LevelDB's estimate of the bytes on disk between two keys. */
  async approximateSize(gte: string, lt: string): Promise<number> {
    return this.db.approximateSize(fromLatin1(gte), fromLatin1(lt));
  }

  /** LevelDB's table files by level and what merging them took, as lines of text. */
  tableStats(): string {
    return this.db.getProperty('leveldb.stats');
  }

  /** Merges all table files, so that no row is kept twice nor one that is deleted. */
  async compact(): Promise<void> {
    await this.db.compactRange(Buffer.from([0]), Buffer.from([255]));
  }
}

/** See `RowTransaction`. Reads see its own rows, then its spilled ones, then the committed state. */
export class Transaction implements RowTransaction {
  readonly rows = new KeyedRows();
  spilled = false;
  private readonly store: RowStore;

  constructor(store: RowStore) {
    this.store = store;
  }

  put(key: string, value: Bytes): void {
    this.rows.set(key, value);
  }

  del(key: string): void {
    this.rows.set(key, null);
  }

  async get(key: string): Promise<Bytes | undefined> {
    return (await this.getMany([key]))[0];
  }

  async getMany(keys: readonly string[]): Promise<(Bytes | undefined)[]> {
    const out = new Array<Bytes | undefined>(keys.length);
    const missing: number[] = [];
    const missingKeys: string[] = [];
    for (let i = 0; i < keys.length; i++) {
      const row = this.rows.get(keys[i]!);
      if (row === undefined) {
        missing.push(i);
        missingKeys.push(keys[i]!);
      } else if (row !== null) out[i] = row;
    }
    if (missing.length === 0) return out;
    if (this.spilled) await this.store.fillFromDisk(keys, missing, out, true);
    else {
      const lower = await this.store.getMany(missingKeys);
      missing.forEach((i, at) => {
        out[i] = lower[at];
      });
    }
    return out;
  }

  getRange(range: RowRange): Promise<[string, Bytes][]> {
    return collectRows(this.range(range));
  }

  range(range: RowRange): AsyncIterable<[string, Bytes]> {
    const own: Layer = (wanted) => fromArray(inOrder(this.rows.slice(wanted), wanted));
    return mergeLayers(range, [own, ...this.store.layers(this.spilled)]);
  }

  async relieve(): Promise<void> {
    if (this.rows.sizeBytes < SPILL_BYTES) return;
    if (!this.spilled) await this.store.beforeSpill();
    this.spilled = true;
    await this.store.spill(this.rows);
  }
}

/** Ascending rows in the order of the range. */
function inOrder<Row>(rows: Row[], { reverse }: RowRange): Row[] {
  return reverse ? rows.reverse() : rows;
}

/** What a cache outside the overlay has to say, a change at a time. */
function* opsOf(source: DirtySource, maxBytes: number): Generator<RowChange> {
  for (let more = source(maxBytes); more !== null; more = source(maxBytes)) {
    for (const op of more) yield [op.key, op.type === 'put' ? op.value : null];
  }
}

/** Puts the changes into the batch, which copies them, and lets the event loop run now and then. */
async function fill(batch: Batch, changes: Iterable<RowChange>): Promise<void> {
  let since: number | Promise<number> = performance.now();
  for (const [key, value] of changes) {
    const bytes = typeof key === 'string' ? fromLatin1(key) : key;
    if (value === null) batch.del(bytes);
    else batch.put(bytes, asBuffer(value));
    if (batch.length % ROWS_A_LOOK !== 0) continue;
    since = breathe(since);
    if (typeof since !== 'number') since = await since;
  }
}
