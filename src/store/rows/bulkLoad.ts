/**
 * Fills a new database that no one reads until it is complete: rows are written to LevelDB in large batches, without overlay
 * and journal. If the process is killed, the folder does not contain a valid database. The next load removes the folder.
 */
import { rm } from 'node:fs/promises';
import { makeFolder } from '../../util/files/makeFolder.js';
import type { Bytes } from '../../util/bytes.js';
import { noteDurable } from '../leveldb/databaseCheck.js';
import type { LevelDb } from '../leveldb/levelDb.js';
import { makeLevelDb } from '../leveldb/makeLevelDb.js';
import { RecordWriter } from './rowRecords.js';
import type { RowWriter } from './rows.js';

const BATCH_BYTES = 2 << 20;
/** Size in bytes of LevelDB's write buffer. Arbitrary: four times that of a running node, because rows are added in key order. */
const WRITE_BUFFER_BYTES = 64 << 20;
const CACHE_BYTES = 8 << 20;

/** A key after those of all rows. A compaction from there on writes LevelDB's memory to a table, and merges nothing. */
const AFTER_ALL_KEYS = '\xff'.repeat(8);

const newRecords = (): RecordWriter => new RecordWriter(BATCH_BYTES + (BATCH_BYTES >> 2));

export class BulkLoad implements RowWriter {
  private readonly path: string;
  private readonly db: LevelDb;
  private records = newRecords();
  /** Second buffer of records. It receives rows while the rows of the first buffer are written. */
  private spare = newRecords();
  /** Resolves when the running write has finished. */
  private writing: Promise<void> = Promise.resolve();

  private constructor(path: string, db: LevelDb) {
    this.path = path;
    this.db = db;
  }

  /** Creates an empty database in a folder. Files in the folder are removed. */
  static async begin(path: string): Promise<BulkLoad> {
    await rm(path, { recursive: true, force: true });
    makeFolder(path);
    const db = makeLevelDb(path, { cacheBytes: CACHE_BYTES, writeBufferBytes: WRITE_BUFFER_BYTES });
    await db.open();
    return new BulkLoad(path, db);
  }

  put(key: string, value: Bytes): void {
    this.records.add(key, value);
  }

  del(key: string): void {
    this.records.add(key, null);
  }

  /** Whether the buffered records fill a batch. The caller should then call `drain`. */
  get isFull(): boolean {
    return this.records.sizeBytes >= BATCH_BYTES;
  }

  /** Starts to write the added rows to the database. Resolves when the rows of the previous call are written. */
  async drain(): Promise<void> {
    await this.writing;
    if (this.records.sizeBytes === 0) return;
    [this.records, this.spare] = [this.spare, this.records];
    this.writing = this.db.write([this.spare.take()], { sync: false });
    // The error is not handled here, because the next call rejects with it.
    this.writing.catch(() => undefined);
  }

  /**
   * Starts to write rows in the format of `rowRecords.ts`, which must not change afterwards. Resolves when the rows of the
   * previous call are written.
   */
  async putRecords(records: Buffer): Promise<void> {
    await this.writing;
    this.writing = this.db.write([records], { sync: false });
    this.writing.catch(() => undefined);
  }

  /** Writes all rows to disk and closes the database. */
  async finish(): Promise<void> {
    await this.writing;
    await this.db.write([this.records.take()], { sync: true });
    // Else the next opening of the database would write the rows of the log a second time before it serves reads.
    await this.db.compact(AFTER_ALL_KEYS, AFTER_ALL_KEYS);
    await noteDurable(this.path);
    await this.db.close();
  }

  /** Closes the database and deletes its folder. */
  async abandon(): Promise<void> {
    await this.writing.catch(() => undefined);
    await this.db.close();
    await rm(this.path, { recursive: true, force: true });
  }
}
