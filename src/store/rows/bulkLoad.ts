/**
 * Fills a new database that no one reads until it is complete: rows go to LevelDB in large batches, without overlay and
 * journal. If the process is killed, the folder is not a valid database; the next load removes it.
 */
import { rm } from 'node:fs/promises';
import { makeFolder } from '../../util/makeFolder.js';
import type { Bytes } from '../../util/bytes.js';
import { noteDurable } from '../leveldb/databaseCheck.js';
import type { LevelDb } from '../leveldb/levelDb.js';
import { makeLevelDb } from '../leveldb/makeLevelDb.js';
import { RecordWriter } from './rowRecords.js';
import type { RowWriter } from './rows.js';

const BATCH_BYTES = 2 << 20;
/** Size of a table file. Arbitrary: four times that of a node, because rows are added in order. */
const WRITE_BUFFER_BYTES = 64 << 20;
const CACHE_BYTES = 8 << 20;

const newRecords = (): RecordWriter => new RecordWriter(BATCH_BYTES + (BATCH_BYTES >> 2));

export class BulkLoad implements RowWriter {
  private readonly path: string;
  private readonly db: LevelDb;
  private records = newRecords();
  /** Takes the next rows while those of the other one are written. */
  private spare = newRecords();
  /** The write that is under way. */
  private writing: Promise<void> = Promise.resolve();

  private constructor(path: string, db: LevelDb) {
    this.path = path;
    this.db = db;
  }

  /** Begins an empty database in a folder, removing what is there. */
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

  /** Whether `drain` has work to do. */
  get isFull(): boolean {
    return this.records.sizeBytes >= BATCH_BYTES;
  }

  /** Writes the added rows to the database. Resolves when what was handed to it before is written. */
  async drain(): Promise<void> {
    await this.writing;
    if (this.records.sizeBytes === 0) return;
    [this.records, this.spare] = [this.spare, this.records];
    this.writing = this.db.write([this.spare.take()], { sync: false });
    // The next call rejects.
    this.writing.catch(() => undefined);
  }

  /** Writes everything to disk and closes the database. */
  async finish(): Promise<void> {
    await this.writing;
    await this.db.write([this.records.take()], { sync: true });
    await noteDurable(this.path);
    await this.db.close();
  }

  /** Closes the database and removes it. */
  async abandon(): Promise<void> {
    await this.writing.catch(() => undefined);
    await this.db.close();
    await rm(this.path, { recursive: true, force: true });
  }
}
