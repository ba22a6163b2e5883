/**
 * Writes rows to LevelDB so that a crash leaves either the old state or the new one. Manages the journal, the move of staged
 * rows to the main rows, and the recovery at start. A flush of up to 16 MiB is written as one atomic batch. Larger flushes
 * are first written to a journal file that ends with a commit record, and then to LevelDB in batches of at most 16 MiB. A
 * crash before the commit record leaves the old state. After a later crash the journal is applied again (puts and deletes
 * are idempotent).
 */
import { yieldIfDue } from '../../scheduler/yield.js';
import { EMPTY_BYTES } from '../../util/bytes.js';
import { systemErrorCode } from '../../util/text/environmentError.js';
import { noteDurable } from './databaseCheck.js';
import { FlushJournal } from './flushJournal.js';
import type { KeyedRows } from '../rows/keyedRows.js';
import { PREFIX } from '../rows/keys.js';
import { DatabaseCorruptionError, type LevelDb } from './levelDb.js';
import { RecordWriter } from '../rows/rowRecords.js';
import { prefixEnd } from '../rows/rows.js';
import { databaseRange, stagedForm, stagedKey } from './stagedRows.js';

/** Maximum size of a LevelDB batch in bytes. */
export const MAX_BATCH_BYTES = 16 << 20;
/**
 * Maximum size in bytes of a batch that is part of a non-atomic write. Small, because LevelDB frees the memory of batches
 * late.
 */
const PIECE_BYTES = 2 << 20;
/**
 * Key of a row that exists in the database from the first to the last batch of a journal. If the row exists but the journal
 * is missing, the database is incomplete.
 */
const APPLYING_KEY = `${PREFIX.meta}applying`;
/** Key of a row that is written only to sync the database when no other rows are written. */
const FLUSHED_KEY = `${PREFIX.meta}flushed`;

/**
 * Returns the dirty rows of a cache outside the overlay (the coins) as records of about `maxBytes`; null at the end. Each
 * buffer stays unchanged. The overlay contains the other unflushed rows.
 */
export type DirtySource = (maxBytes: number) => Buffer | null;

/** The rows that one flush writes. */
export interface FlushedRows {
  /**
   * Returns the rows of the overlay (the committed rows in memory) as records. Each buffer has about `maxBytes`. May be
   * called once.
   */
  readonly records: (maxBytes: number) => Iterable<Buffer>;
  readonly sizeBytes: number;
  readonly source: DirtySource;
  /** Approximate size in bytes of the rows that `source` provides. */
  readonly sourceBytes: number;
  /** Whether the committed rows include those of the staging area. */
  readonly withStage: boolean;
}

export interface DatabaseWriterOptions {
  /** Folder of the LevelDB files. */
  readonly path: string;
  readonly batchBytes: number;
  /** Called at named points of a flush, at which tests kill the process. */
  readonly onPoint: (name: string) => void;
}

export class DatabaseWriter {
  private readonly db: LevelDb;
  private readonly path: string;
  private readonly journal: FlushJournal;
  private readonly onPoint: (name: string) => void;
  private readonly batchBytes: number;
  private readonly pieceBytes: number;
  /** Whether the database on disk is empty. Lookups then need no disk access. */
  diskEmpty = true;
  /** Row types (first characters of keys) of all rows on disk; null if they are unknown. */
  onlyKinds: string | null = null;

  constructor(db: LevelDb, { path, batchBytes, onPoint }: DatabaseWriterOptions) {
    this.db = db;
    this.path = path;
    this.onPoint = onPoint;
    this.batchBytes = batchBytes;
    this.pieceBytes = Math.min(PIECE_BYTES, batchBytes);
    this.journal = new FlushJournal(`${path}.journal`);
  }

  /** Whether no row on disk can have this key. */
  lacks(key: string): boolean {
    return this.diskEmpty || (this.onlyKinds !== null && !this.onlyKinds.includes(key.charAt(0)));
  }

  /** Whether no row on disk can have a key from `gte` up to but not including `lt`. */
  lacksRange(gte: string, lt: string): boolean {
    if (this.onlyKinds === null) return this.diskEmpty;
    for (const kind of this.onlyKinds) if (gte < prefixEnd(kind) && lt > kind) return false;
    return true;
  }

  /** Whether this program may use the database: it is empty, contains the row `mark`, or its first flush was interrupted. */
  async bears(mark: string): Promise<boolean> {
    if (await this.isEmpty()) return true;
    for (const key of [mark, APPLYING_KEY]) if ((await this.db.get(key)) !== undefined) return true;
    return this.journal.isCommitted();
  }

  private async isEmpty(): Promise<boolean> {
    const everything = { gte: '', lt: '\xff\xff', limit: 1 };
    for await (const _row of this.db.iterate(everything)) return false;
    return true;
  }

  /** Finishes an interrupted flush if its journal is complete; otherwise discards it. */
  async recover(): Promise<void> {
    this.diskEmpty = await this.isEmpty();
    const isHalf = !this.diskEmpty && (await this.db.get(APPLYING_KEY)) !== undefined;
    const isCommitted = await this.journal.isCommitted().catch((error: unknown) => {
      // A folder or a pipe with the name of the journal counts as a missing journal.
      if (isHalf && ['EISDIR', 'EFTYPE'].includes(systemErrorCode(error) ?? '')) return false;
      throw error;
    });
    if (isCommitted) await this.applyJournal(await this.journal.includesStage());
    else if (isHalf) {
      throw new DatabaseCorruptionError(
        this.path,
        `a crash interrupted a write, and ${this.journal.path}, which contains the rest of it, is missing or corrupt`,
      );
    } else {
      await this.journal.remove();
      await this.clearStage();
    }
    // When LevelDB opened the database, it wrote the rows of its logs to tables, so all data is durable.
    if (!this.diskEmpty) await noteDurable(this.path);
  }

  /** Writes the rows of a flush to disk in one atomic step. */
  async flush({ records, sizeBytes, source, sourceBytes, withStage }: FlushedRows): Promise<void> {
    if (!withStage && sizeBytes + sourceBytes <= this.batchBytes) {
      this.onPoint('flush:before-batch');
      await this.write(await batchOf(records(this.pieceBytes), source), true);
      this.onPoint('flush:after-batch');
      return;
    }
    // The rows of the staging area must be on disk before the journal commits them.
    if (withStage) await this.makeDurable([]);
    this.onPoint('flush:before-journal');
    try {
      await this.journal.begin(withStage, this.pieceBytes);
      for (const piece of records(this.pieceBytes)) await this.journal.appendRecords(piece);
      this.onPoint('flush:in-journal');
      for (let piece = source(this.pieceBytes); piece !== null; piece = source(this.pieceBytes))
        await this.journal.appendRecords(piece);
      // The last piece of the journal deletes the mark (`APPLYING_KEY`). So older versions, which do not know the mark,
      // delete it too.
      await this.journal.append([[APPLYING_KEY, null]]);
      await this.journal.commit();
    } catch (error) {
      await this.journal.abandon();
      throw error;
    }
    this.onPoint('flush:journal-committed');
    await this.applyJournal(withStage);
  }

  /** Moves rows of an open transaction to the staging area. */
  async stage(rows: KeyedRows): Promise<void> {
    this.noteWrite();
    const records = new RecordWriter();
    for (const [key, value] of rows.entries()) {
      records.add(stagedKey(key), stagedForm(value));
      if (records.sizeBytes >= this.pieceBytes) await this.write([records.take()], false);
    }
    await this.write([records.take()], false);
    rows.clear();
  }

  async clearStage(): Promise<void> {
    await this.db.deleteRange(PREFIX.stage, prefixEnd(PREFIX.stage));
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
    for await (const [key, staged] of databaseRange(this.db, { gte: '', lt: '\xff\xff' }, true)) {
      records.add(key, staged);
      if (records.sizeBytes < this.pieceBytes) continue;
      await this.write([records.take()], false);
      this.onPoint('flush:applying-stage');
    }
    await this.write([records.take()], false);
  }

  private noteWrite(): void {
    this.diskEmpty = false;
    this.onlyKinds = null;
  }

  /** Writes one atomic batch. With `sync` this batch and all earlier ones become durable. */
  private async write(records: readonly Buffer[], sync: boolean): Promise<void> {
    if (records.every((piece) => piece.length === 0)) return;
    this.noteWrite();
    await this.db.write(records, { sync });
    if (sync) await noteDurable(this.path);
  }

  /** Writes one atomic batch and makes it and all earlier ones durable, even if the batch is empty. */
  private async makeDurable(records: readonly Buffer[]): Promise<void> {
    const mark = new RecordWriter();
    mark.add(FLUSHED_KEY, EMPTY_BYTES);
    await this.write([...records, mark.take()], true);
  }
}

/** Collects all rows of a flush into one batch. */
async function batchOf(records: Iterable<Buffer>, source: DirtySource): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  let since: number = performance.now();
  for (const piece of records) {
    pieces.push(Buffer.from(piece));
    since = await yieldIfDue(since);
  }
  for (let piece = source(PIECE_BYTES); piece !== null; piece = source(PIECE_BYTES)) {
    pieces.push(piece);
    since = await yieldIfDue(since);
  }
  return pieces;
}
