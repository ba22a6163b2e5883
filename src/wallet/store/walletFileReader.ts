/**
 * Reads a wallet file (layout: `walletFile.ts`): checks its commits, keeps keys and positions of the rows in memory, and reads values
 * from disk.
 */
import { close, fstatSync, openSync, readSync } from 'node:fs';
import { promisify } from 'node:util';
import { crc32c } from '../../crypto/crc32c.js';
import { RecordCursor } from '../../store/rows/rowRecords.js';
import { environmentError } from '../../util/text/environmentError.js';
import { inSlices } from '../../scheduler/slices.js';
import type { Slices } from '../../util/slices.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
import { hasColumnsAt } from './columnFile.js';
import { WalletFileRow } from './fileRow.js';
import { FileWindow } from './fileWindow.js';
import { RowIndex } from './rowIndex.js';
import * as head from './walletFileHead.js';
import type { WalletImage, WalletParts } from './walletImage.js';
import { COMMIT_HEAD_BYTES, readCommit } from './walletCommits.js';
import { WalletClosedError, WalletFileError } from './walletFileErrors.js';

const closeFile = promisify(close);

/**
 * If the number of rows that changed since the image exceeds both `CHANGED_LEAST` and the total number divided by
 * `CHANGED_SHARE`, all rows are read.
 */
const CHANGED_SHARE = 8;
const CHANGED_LEAST = 256;

/** Adds the rows of a payload that starts at `offset` of the file to an index. */
export function takeRows(
  index: RowIndex,
  payload: Buffer,
  offset: number,
  changed: Set<string> | null = null,
): void {
  for (const row = new RecordCursor(payload); row.next();) {
    const { keyStart, valueStart, valueEnd } = row;
    changed?.add(payload.toString('latin1', keyStart, valueStart));
    if (row.isDeletion) index.delete(payload.subarray(keyStart, valueStart));
    else index.set(payload, keyStart, valueStart, valueEnd, offset + valueStart);
  }
}

/** Read-only access to the content of a file. */
export type WalletRows = Pick<WalletFileReader, 'get' | 'eachKey'>;

export class WalletFileReader {
  readonly path: string;
  protected fd: number;
  protected index = new RowIndex();
  /** Offset and number of the next commit in the file. */
  protected end = head.HEAD_BYTES;
  protected number = 0;
  protected marks = 0;
  protected isClosed = false;
  /**
   * Wallet image that was written when the wallet was closed last, and the keys of rows that changed after that; null
   * without a valid image.
   */
  protected since: { readonly image: WalletImage; readonly changed: Set<string> } | null = null;

  protected constructor(path: string, fd: number) {
    this.path = path;
    this.fd = fd;
  }

  /** Whether a file begins like a wallet file of this program. */
  static isOne(path: string): boolean {
    let fd: number;
    try {
      refuseSpecialFile(path);
      fd = openSync(path, 'r');
    } catch {
      return false;
    }
    try {
      const start = Buffer.alloc(head.HEAD_BYTES);
      return readSync(fd, start, 0, start.length, 0) === start.length && head.isHead(start);
    } catch {
      return false;
    } finally {
      void closeFile(fd);
    }
  }

  /**
   * Opens a file and runs a task that reads its content. The file is not changed, because another process may use it.
   * Rejects like `WalletFile.open`, and with errors of the task.
   */
  static async look<T>(path: string, task: (file: WalletRows) => Promise<T>): Promise<T> {
    let fd: number;
    try {
      refuseSpecialFile(path);
      fd = openSync(path, 'r');
    } catch (error) {
      throw environmentError(error, path);
    }
    try {
      const file = new WalletFileReader(path, fd);
      await inSlices(file.read());
      return await task(file);
    } catch (error) {
      throw environmentError(error, path);
    } finally {
      await closeFile(fd);
    }
  }

  /** Offset of the image that a backup has after its commits; null if the file has none. */
  protected attachedImageAt(): number | null {
    const start = Buffer.alloc(head.HEAD_BYTES);
    readSync(this.fd, start, 0, start.length, 0);
    const { end } = head.syncedEnd(start);
    return head.isHead(start) && hasColumnsAt(this.fd, end) ? end : null;
  }

  /** Initializes the index with the data of a wallet image. */
  protected begin(image: WalletImage): void {
    this.index = image.index;
    this.end = image.end;
    this.number = image.number;
    this.since = { image, changed: new Set() };
  }

  /**
   * Reads the commits after those that the image covers. If too many rows changed, reads all commits. Resolves to the length
   * of the file, which may contain bytes after the last commit, and the number of rows that changed after the image; null
   * without a valid image.
   */
  protected async readOn(): Promise<{ readonly sizeBytes: number; readonly changed: number | null }> {
    const sizeBytes = await inSlices(this.read());
    if (this.since === null) return { sizeBytes, changed: null };
    const { image, changed } = this.since;
    if (changed.size <= Math.max(CHANGED_LEAST, image.rowCount / CHANGED_SHARE))
      return { sizeBytes, changed: changed.size };
    this.since = null;
    this.index = new RowIndex();
    this.end = head.HEAD_BYTES;
    this.number = 0;
    return { sizeBytes: await inSlices(this.read()), changed: null };
  }

  /**
   * The data that was stored when the wallet was closed last, with the keys of all rows that changed since. Null if there is
   * no valid image, so that every row must be read. Valid until the next write.
   */
  get image(): { readonly parts: WalletParts; readonly changed: ReadonlySet<string> } | null {
    return this.since === null ? null : { parts: this.since.image.parts, changed: this.since.changed };
  }

  /**
   * Reads the rows that are not in the parts of the cache file (`image`), in file order. `isOther` returns whether the row
   * with a key is such a row.
   */
  *otherValues(isOther: (key: Buffer) => boolean): Generator<WalletFileRow> {
    const { index, since } = this;
    if (since === null) return;
    const rows = [...since.image.others].filter((at) => index.isThere(at));
    for (let at = since.image.rowCount; at < index.rowCount; at++)
      if (index.isThere(at) && isOther(index.keyView(at))) rows.push(at);
    yield* this.valuesAt(rows);
  }

  /**
   * Reads the positions of all rows. Returns the length of the file, which may contain bytes after the last commit. Throws
   * `WalletFileError`.
   */
  private *read(): Slices<number> {
    const sizeBytes = fstatSync(this.fd).size;
    const start = Buffer.alloc(head.HEAD_BYTES);
    readSync(this.fd, start, 0, start.length, 0);
    if (!head.isHead(start))
      throw new WalletFileError(
        `${this.path} is not a wallet of this program. Move it away and start again, or specify another wallet.`,
      );
    const version = head.versionOf(start);
    if (version > head.VERSION) {
      throw new WalletFileError(
        `${this.path} was written by a newer version of this program. Use that version.`,
      );
    }
    const synced = head.syncedEnd(start);
    this.marks = synced.generation;
    if (synced.end > sizeBytes) throw this.corruption(sizeBytes);
    const window = new FileWindow(this.fd, sizeBytes);
    try {
      yield* this.takeAll(window);
    } finally {
      window.wipe();
    }
    if (this.end < synced.end) throw this.corruption(this.end);
    return sizeBytes;
  }

  /** Reads the positions of all rows in the remaining commits. */
  private *takeAll(window: FileWindow): Slices<void> {
    for (;;) {
      const payload = readCommit(window, this.end, this.number);
      if (payload === null) break;
      this.take(payload, this.end + COMMIT_HEAD_BYTES);
      this.end += COMMIT_HEAD_BYTES + payload.length;
      this.number++;
      yield;
    }
  }

  protected corruption(offset: number): WalletFileError {
    return new WalletFileError(
      `${this.path} is corrupt at byte ${offset}. Restore it from a backup; the file was not changed. ` +
        'Without a backup, start with only this wallet and -salvagewallet, which copies all readable records ' +
        'to a new file.',
    );
  }

  /** Records the positions of the rows in a payload that starts at `offset` of the file. */
  protected take(payload: Buffer, offset: number): void {
    takeRows(this.index, payload, offset, this.since?.changed ?? null);
  }

  /** Throws `WalletClosedError` if the wallet was closed, which may happen during a long call. */
  protected refuseClosed(): void {
    if (this.isClosed) throw new WalletClosedError();
  }

  has(key: string): boolean {
    return this.index.find(key) >= 0;
  }

  /** Reads the value of a row from disk. Throws `WalletFileError` if its checksum is wrong. */
  get(key: string): Buffer | undefined {
    const at = this.index.find(key);
    return at < 0 ? undefined : this.valueAt(at);
  }

  protected valueAt(at: number): Buffer {
    this.refuseClosed();
    const { offset, sizeBytes, crc } = this.index.place(at);
    const value = Buffer.allocUnsafe(sizeBytes);
    const read = readSync(this.fd, value, 0, sizeBytes, offset);
    if (read !== sizeBytes || crc32c(value) !== crc) throw this.corruption(offset);
    return value;
  }

  /**
   * Reads the rows whose keys start with `prefix`, or (`isOther`) all other rows, in file order. The rows were verified when
   * the file was opened. Rows must not change during the iteration.
   */
  *values(prefix: string, isOther = false): Generator<WalletFileRow> {
    yield* this.valuesAt(this.index.inFileOrder(prefix, isOther));
  }

  private *valuesAt(rows: Iterable<number>): Generator<WalletFileRow> {
    this.refuseClosed();
    const window = new FileWindow(this.fd, this.end);
    try {
      for (const at of rows) {
        const { offset, sizeBytes } = this.index.place(at);
        const value = window.read(offset, sizeBytes);
        if (value === null) throw this.corruption(offset);
        yield new WalletFileRow(this.index, at, value);
      }
    } finally {
      window.wipe();
    }
  }

  /** The keys that begin with `prefix`, in the order in which they were first written. */
  keys(prefix: string): string[] {
    return this.index.keys(prefix);
  }

  /** Iterates over the keys that begin with `prefix`, in the order in which they were first written. */
  eachKey(prefix: string): Generator<string> {
    return this.index.eachKey(prefix);
  }

  /** Iterates over the rows whose key begins with `prefix`, in the order in which the keys were first written. */
  *rows(prefix: string): Generator<[key: string, value: Buffer]> {
    for (const key of this.index.keys(prefix)) {
      const value = this.get(key);
      if (value !== undefined) yield [key, value];
    }
  }

  /** Whether the file contains no rows. */
  get isEmpty(): boolean {
    return this.index.isEmpty;
  }

  get sizeBytes(): number {
    return this.end;
  }
}
