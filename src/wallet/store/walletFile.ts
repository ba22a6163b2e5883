/**
 * A wallet on disk: one append-only file of rows by key. Handles durability, corruption checks and the order of writes
 * (`writeQueue.ts`), but not the meaning of the rows. Keys and positions of values are in memory. Layout: a head of 64 bytes
 * (`walletFileHead.ts`), then commits (`walletCommits.ts`). Each commit is atomic. The head contains the offset up to which
 * the file was synced. Incomplete commits after this offset come from a crash, and are removed when the file is opened. An
 * error before this offset is corruption, and the file is rejected. An image file (`walletImage.ts`) may contain the
 * positions of the rows, so that only later commits must be read. A backup has such an image after its last commit.
 */
import { close, fsync, openSync, fstatSync, ftruncateSync } from 'node:fs';
import { promisify } from 'node:util';
import { RecordWriter, type RowChange } from '../../store/rows/rowRecords.js';
import type { Bytes } from '../../util/bytes.js';
import { EnvironmentError, environmentError } from '../../util/text/environmentError.js';
import { inSlices } from '../../scheduler/slices.js';
import type { Slices } from '../../util/slices.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
import { RowIndex } from './rowIndex.js';
import * as head from './walletFileHead.js';
import { takeRows, WalletFileReader } from './walletFileReader.js';
import {
  attachImage,
  copyParts,
  imageRows,
  readAttachedImage,
  readImage,
  writeImage,
  type WalletParts,
} from './walletImage.js';
import { COMMIT_HEAD_BYTES, makeCommit, MAX_PAYLOAD_BYTES } from './walletCommits.js';
import {
  removeLeftovers,
  wipeUnlinked,
  writeWholeFile,
  writeWhole,
  type WholeFileTail,
} from './wholeFile.js';
import { WriteQueue } from './writeQueue.js';

const syncFile = promisify(fsync);
const closeFile = promisify(close);

/** Size in bytes above which a file is rewritten if less than half of its data is live. */
const SMALL_BYTES = 1 << 20;
/** Ratio of the size of a file to its live data above which it is rewritten before it is loaded from an image. Arbitrary. */
const MOST_WASTE = 8;

/**
 * A new image is due if the number of row changes since the last one exceeds both `DUE_LEAST` and the number of rows divided
 * by `DUE_SHARE`. The share bounds the cost of images by the cost of the changes.
 */
const DUE_LEAST = 128;
const DUE_SHARE = 32;

/** Value of `fd` when the file is not open. */
const NO_FILE = -1;

/** Runs work until `isValid` returns false after a part. Returns null in that case. */
function* whileValid<T>(work: Slices<T | null>, isValid: () => boolean): Slices<T | null> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return isValid() ? value : null;
    if (!isValid()) return null;
    yield;
  }
}

/** Source of the data of an open wallet for an image. */
export interface ImageMaker {
  /** Data of the wallet; null if there is none. */
  makeParts(): Slices<WalletParts | null>;
  /** Whether `makeParts` does not cover the row with this key. */
  isOther(key: Buffer): boolean;
  /** Whether the data of the wallet is the same as on disk and has not changed since the maker was created. */
  isStill(): boolean;
}

/** Returns the tail that adds an image to a backup. */
function imageTail(parts: WalletParts, isOther: (key: Buffer) => boolean): WholeFileTail {
  const index = new RowIndex();
  return {
    take: (payload, offset) => takeRows(index, payload, offset),
    write: (file, end, number) => attachImage(file, { index, end, number }, parts, isOther),
  };
}

export class WalletFile extends WalletFileReader {
  /**
   * Number of bytes after the synced part that were removed when the file was opened, because they did not form a complete
   * commit.
   */
  cutBytes = 0;
  /** Number of row changes in this file. `imagedAt`: its value for the image on disk; null without a valid image. */
  private changeCount = 0;
  private imagedAt: number | null = null;
  private readonly records = new RecordWriter();
  private readonly queue: WriteQueue;

  private constructor(path: string, fd: number) {
    super(path, fd);
    this.queue = new WriteQueue(path, {
      append: (changes) => this.append(changes),
      replace: (changes) => this.replace(changes),
      sync: () => this.sync(),
    });
  }

  /**
   * Creates a wallet file with these rows; without rows by default. After a crash the file is complete or missing. Rejects
   * with `EnvironmentError` for a disk error or an existing file.
   */
  static async create(
    path: string,
    rows: Iterable<readonly [key: string, value: Bytes]> = [],
  ): Promise<WalletFile> {
    try {
      await writeWholeFile(path, rows, false);
    } catch (error) {
      throw environmentError(error, path);
    }
    return WalletFile.open(path);
  }

  /** Creates a wallet that has no file yet. `rewrite` creates the file with its first rows. */
  static planned(path: string): WalletFile {
    return new WalletFile(path, NO_FILE);
  }

  /**
   * Opens a wallet file. Rejects with `WalletFileError` if it is not a wallet or is corrupt, and with `EnvironmentError` for
   * a disk error.
   */
  static async open(path: string): Promise<WalletFile> {
    let fd: number;
    try {
      refuseSpecialFile(path);
      fd = openSync(path, 'r+');
    } catch (error) {
      throw environmentError(error, path);
    }
    const file = new WalletFile(path, fd);
    try {
      await file.load();
      return file;
    } catch (error) {
      await closeFile(fd);
      throw environmentError(error, path);
    }
  }

  private async load(): Promise<void> {
    await removeLeftovers(this.path);
    let image = await readImage(this.path, this.fd, fstatSync(this.fd).size);
    const attachedAt = this.attachedImageAt();
    if (image === null && attachedAt !== null)
      image = await readAttachedImage(this.path, this.fd, attachedAt);
    if (image !== null) this.begin(image);
    const { sizeBytes, changed } = await this.readOn();
    if (changed !== null) {
      this.imagedAt = 0;
      this.changeCount = changed;
    }
    if (attachedAt === this.end) this.imagedAt = null;
    else this.cutBytes = sizeBytes - this.end;
    if (sizeBytes > this.end) ftruncateSync(this.fd, this.end);
    await this.sync();
  }

  /** Stops using the wallet image, so that every row is read. */
  dropImage(): void {
    this.since = null;
    this.imagedAt = null;
  }

  /**
   * Writes changes so that a crash leaves either all or none of them. Resolves when the changes are written, or with `sync`
   * when they are durable. Rejects with `EnvironmentError` for a disk error. In that case the file is unchanged, and later
   * writes are also rejected until the file is opened again.
   */
  commit(changes: readonly RowChange[], { sync = true } = {}): Promise<void> {
    this.refuseClosed();
    return this.queue.ask(changes, { sync, isRewrite: false });
  }

  /**
   * Rewrites the file in one atomic step, so that it contains only the current rows after `changes`. The old file is
   * overwritten on disk, as far as the file system allows. Rejects with `EnvironmentError` like `commit`; the file is then
   * unchanged.
   */
  rewrite(changes: readonly RowChange[] = []): Promise<void> {
    this.refuseClosed();
    return this.queue.ask(changes, { sync: true, isRewrite: true });
  }

  private append(changes: readonly RowChange[]): void {
    this.since = null;
    for (const [key, value] of changes) this.records.add(key, value);
    const payload = this.records.take();
    if (payload.length === 0) return;
    if (payload.length > MAX_PAYLOAD_BYTES)
      throw new EnvironmentError(`${this.path}: a single write can have at most ${MAX_PAYLOAD_BYTES} bytes.`);
    const commit = makeCommit(payload, this.number);
    payload.fill(0);
    try {
      writeWhole(this.fd, commit, this.end);
      this.take(commit.subarray(COMMIT_HEAD_BYTES), this.end + COMMIT_HEAD_BYTES);
    } catch (error) {
      this.takeBack();
      throw error;
    } finally {
      // The buffer of the commit is overwritten, because it may contain private keys.
      commit.fill(0);
    }
    this.end += commit.length;
    this.number++;
    this.changeCount += changes.length;
  }

  /** Removes the part of a commit that was written before an error. */
  private takeBack(): void {
    try {
      ftruncateSync(this.fd, this.end);
    } catch {
      // If the removal of the incomplete commit fails, the next opening of the file removes it.
    }
  }

  /** Resolves when all requested writes are complete. */
  settled(): Promise<void> {
    return this.queue.settled();
  }

  /** Whether the wallet image covers all rows, so that a new image is not needed. */
  get hasImage(): boolean {
    return this.imagedAt === this.changeCount;
  }

  /** Whether so many rows changed after the image was made that opening the wallet takes noticeably longer. */
  get needsImage(): boolean {
    const changes = this.imagedAt === null ? Infinity : this.changeCount - this.imagedAt;
    return changes >= Math.max(DUE_LEAST, this.index.rowCount / DUE_SHARE);
  }

  /**
   * Writes an image of the open wallet, unless the wallet changes meanwhile. Resolves to true if the image was written. A disk
   * error is not fatal.
   */
  async refreshImage(maker: ImageMaker): Promise<boolean> {
    const made = await this.makeParts(maker);
    return made !== null && (await this.leaveImage(made.parts, maker.isOther, made.isValid));
  }

  /**
   * Returns the data of the open wallet for an image, and a check whether it still matches the committed rows. Null if the wallet is
   * in use or has no such data.
   */
  private async makeParts(
    maker: ImageMaker,
  ): Promise<{ readonly parts: WalletParts; readonly isValid: () => boolean } | null> {
    const { index, number, fd } = this;
    const isValid = (): boolean =>
      maker.isStill() &&
      !this.isClosed &&
      !this.queue.isBusy &&
      this.index === index &&
      this.number === number;
    if (fd === NO_FILE || this.queue.hasFailed || !isValid()) return null;
    const parts = await inSlices(whileValid(maker.makeParts(), isValid));
    return parts === null ? null : { parts, isValid };
  }

  private async leaveImage(
    parts: WalletParts,
    isOther: (key: Buffer) => boolean,
    isValid: () => boolean = () => true,
  ): Promise<boolean> {
    const rows = await inSlices(whileValid(imageRows(this.index, isOther), isValid));
    if (rows === null) return false;
    const { path, fd, index, end, number, changeCount } = this;
    if (!(await writeImage({ path, fd, index, end, number, isValid }, rows, parts))) return false;
    if (this.index === index) this.imagedAt = changeCount;
    return true;
  }

  /** Syncs the file, and records the synced length in its head. */
  private async sync(): Promise<void> {
    const { end } = this;
    await syncFile(this.fd);
    writeWhole(this.fd, head.mark(end, ++this.marks), head.markOffset(this.marks));
  }

  /** Whether less than half of the file is live data, so that it should be rewritten when it is closed. */
  get isWasteful(): boolean {
    return this.end > SMALL_BYTES && this.end > 2 * this.index.liveBytes;
  }

  /**
   * Whether the file should be rewritten before it is loaded. With a valid image a rewrite takes longer than the loading, so
   * it is left to `close` until the file is several times as large as its data.
   */
  get mustShrink(): boolean {
    return this.isWasteful && (this.since === null || this.end > MOST_WASTE * this.index.liveBytes);
  }

  private async replace(changes: readonly RowChange[]): Promise<void> {
    const isFirst = this.fd === NO_FILE;
    this.dropImage();
    await writeWholeFile(this.path, this.changedRows(changes), !isFirst);
    const again = await WalletFile.open(this.path);
    const old = this.fd;
    const oldEnd = this.end;
    this.fd = again.fd;
    this.index = again.index;
    this.end = again.end;
    this.number = again.number;
    this.marks = again.marks;
    this.records.wipe();
    if (isFirst) return;
    await wipeUnlinked(old, oldEnd);
    await closeFile(old);
    await removeLeftovers(this.path);
  }

  /** Yields all rows of the file in the state after `changes`. */
  private *changedRows(changes: readonly RowChange[]): Generator<[key: string, value: Bytes]> {
    const changed = new Map<string, Bytes | null>();
    for (const [key, value] of changes)
      changed.set(typeof key === 'string' ? key : key.toString('latin1'), value);
    for (const [key, at] of this.index.entries()) {
      const value = changed.get(key);
      if (value === undefined) yield [key, this.valueAt(at)];
      else if (value !== null) yield [key, value];
    }
    for (const [key, value] of changed) if (value !== null && !this.index.has(key)) yield [key, value];
  }

  /**
   * Writes a copy of all committed rows as a wallet file. An existing file at `path` is replaced. With `maker` the copy also
   * contains an image, unless the wallet changes meanwhile.
   */
  async backup(path: string, maker: ImageMaker | null = null): Promise<void> {
    await this.queue.settled();
    const made = maker === null ? null : await this.makeParts(maker);
    try {
      await this.queue.alone(async () => {
        this.refuseClosed();
        // The wallet may change again after this point, so the data is copied.
        const tail =
          maker !== null && made?.isValid() === true ? imageTail(copyParts(made.parts), maker.isOther) : null;
        await writeWholeFile(path, this.changedRows([]), true, tail);
      });
    } catch (error) {
      throw environmentError(error, path);
    }
  }

  /**
   * Writes all data to disk and closes the file. `parts`: data of the open wallet for an image, which is then written.
   * `isOther` returns for the key of a row whether `parts` does not cover the row.
   */
  async close(
    parts: WalletParts | null = null,
    isOther: (key: Buffer) => boolean = () => true,
  ): Promise<void> {
    if (this.isClosed) return;
    await this.queue.settled();
    this.isClosed = true;
    if (this.fd === NO_FILE) return;
    try {
      if (!this.queue.hasFailed) {
        await this.sync();
        await syncFile(this.fd);
        if (parts !== null) await this.leaveImage(parts, isOther);
      }
    } catch (error) {
      throw environmentError(error, this.path);
    } finally {
      await closeFile(this.fd);
    }
  }
}
