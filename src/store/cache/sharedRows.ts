/**
 * Reads the committed rows of a store from another thread of the process, without the thread that owns the store. Reads the
 * overlay (the committed rows in memory) and the database, both in the addon. Each row is in its state before or after a
 * commit, never in between. Several rows belong to the same state if `commits` did not change between the reads. The owner
 * may close, flush or reopen the database at any time. While the database is closed, reads throw. Rows in the staging area
 * (`stagedRows.ts`) are not visible, so do not use this while `RowStore.mustFlush` is set.
 */
import { loadNative, type NativeRowView } from '../../native/binding.js';
import { assert } from '../../util/assert.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { findCorruptTable } from '../leveldb/databaseCheck.js';
import { databaseError, DatabaseError } from '../leveldb/databaseError.js';
import { DatabaseCorruptionError } from '../leveldb/levelDb.js';
import { inOrder, mergeRows } from '../rows/mergeLayers.js';
import { changesOf } from '../rows/rowRecords.js';
import { walkInSteps, type RowRange, type RowReader } from '../rows/rows.js';

/** Data with which another thread opens the rows of a store. */
export interface SharedRowsId {
  readonly rows: number;
  readonly database: number;
  /** Folder of the database's files. */
  readonly path: string;
}

const ABSENT = 0xffffffff;
/** Number of rows that an iteration reads per call (`WALK_ROWS`). */
const WALK_ROWS = 256;
const MOST_ROWS = 0x7fffffff;

export class SharedRows implements RowReader {
  private readonly view: NativeRowView;
  private readonly path: string;

  /** Opens shared rows. Throws if the store of the other thread does not exist any more. */
  constructor({ rows, database, path }: SharedRowsId) {
    const addon = loadNative();
    assert(addon, 'rows can only be shared with the native addon');
    this.view = new addon.RowView(rows, database);
    this.path = path;
  }

  /** See `RowStore.commits`. */
  get commits(): number {
    return this.view.changes;
  }

  async get(key: string): Promise<Bytes | undefined> {
    return (await this.getMany([key]))[0];
  }

  async getMany(keys: readonly string[]): Promise<(Bytes | undefined)[]> {
    return this.settled(() => this.readMany(keys));
  }

  private readMany(keys: readonly string[]): (Bytes | undefined)[] {
    if (keys.length === 0) return [];
    const values = this.view.getMany(keys);
    let at = 0;
    return keys.map(() => {
      const length = values.readUInt32LE(at);
      at += 4;
      if (length === ABSENT) return undefined;
      at += length;
      return copyOf(values.subarray(at - length, at));
    });
  }

  async getRange(range: RowRange): Promise<[string, Bytes][]> {
    return this.settled(() => this.readRange(range));
  }

  private readRange(range: RowRange): [string, Bytes][] {
    const { gte, lt, reverse = false, limit = MOST_ROWS } = range;
    if (gte >= lt) return [];
    const answer = this.view.range(gte, lt, reverse, limit);
    const end = 4 + answer.readUInt32LE(0);
    const own = rowsOf(answer.subarray(4, end));
    // A byte after the first part tells whether the database has more rows. This function does not need it.
    const lower = rowsOf(answer.subarray(end + 1)) as [string, Bytes][];
    return mergeRows(range, inOrder(own, range), lower);
  }

  range(range: RowRange): AsyncGenerator<[string, Bytes]> {
    return walkInSteps(this, range, WALK_ROWS);
  }

  /**
   * Runs a read. After a corruption error it searches for the corrupt file, because the error of a range read does not name
   * the file.
   */
  private async settled<T>(read: () => T): Promise<T> {
    try {
      return read();
    } catch (error) {
      const known = databaseError(error);
      if (!(known instanceof DatabaseError) || known.code !== 'LEVEL_CORRUPTION') throw known;
      const table = known.message.includes('.ldb') ? null : await findCorruptTable(this.path);
      throw new DatabaseCorruptionError(this.path, table ?? known.message, { cause: error });
    }
  }
}

/** The value is copied, so that a stored value does not keep its whole batch in memory. */
function copyOf(value: Buffer): Buffer {
  return Buffer.from(value);
}

function rowsOf(records: Buffer): [string, Bytes | null][] {
  return Array.from(changesOf(records), ([key, value]) => [toLatin1(key), value && copyOf(value)]);
}
