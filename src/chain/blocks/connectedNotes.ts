/**
 * The ids of the blocks that were connected since the last flush, in a file beside the database. After a kill these blocks are
 * connected again; their scripts need no second verification, because an id commits to all bytes of its block. A lost or
 * corrupt id costs only the verification of its block. Source: Core does not verify scripts either when it connects blocks
 * again after a kill (validation.cpp `RollforwardBlock`).
 */
import {
  closeSync,
  constants,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';

const HASH_BYTES = 32;
/** Number of ids that are written with one call. A kill loses the ids that wait in memory. */
const IDS_AT_ONCE = 128;
/** Maximum size of a file that is read, in bytes. This program does not write a longer file. Arbitrary. */
const MAX_FILE_BYTES = 256 << 20;

export class ConnectedNotes {
  private readonly path: string;
  /** Ids of blocks that an earlier process had connected, and that this process has not connected yet. */
  private readonly earlier = new Set<string>();
  private readonly waiting = Buffer.allocUnsafe(IDS_AT_ONCE * HASH_BYTES);
  private waitingBytes = 0;
  /** The open file; null before the first write. */
  private fd: number | null = null;
  private sizeBytes = 0;
  /** Whether writing has failed. Nothing is written from then on, since the file is not needed for correctness. */
  private hasFailed = false;

  /** Reads the file at `path`. A file that cannot be read counts as empty. */
  constructor(path: string) {
    this.path = path;
    try {
      refuseSpecialFile(path);
      const { size } = statSync(path);
      if (size > MAX_FILE_BYTES) return;
      const bytes = readFileSync(path);
      // A kill during a write leaves a part of an id at the end. The next id overwrites it.
      this.sizeBytes = bytes.length - (bytes.length % HASH_BYTES);
      for (let at = 0; at < this.sizeBytes; at += HASH_BYTES)
        this.earlier.add(toLatin1(bytes.subarray(at, at + HASH_BYTES)));
    } catch {
      // The file does not exist, or cannot be read.
    }
  }

  /** Path of the file of a database in the folder `database`. */
  static pathOf(database: string): string {
    return `${database}.connected`;
  }

  /** Deletes the file, so that all scripts are verified again (`-reindex`, `-reindex-chainstate`). */
  static remove(database: string): void {
    rmSync(ConnectedNotes.pathOf(database), { recursive: true, force: true });
  }

  /** Whether an earlier process has connected the block with this id (wire order). */
  has(hash: Bytes): boolean {
    return this.earlier.size > 0 && this.earlier.has(toLatin1(hash));
  }

  /** Notes the id of a connected block. Must be called after the commit. */
  add(hash: Bytes): void {
    if (this.hasFailed) return;
    // The file contains the ids of an earlier process until a flush after the last of its blocks was connected.
    if (this.earlier.size > 0 && this.earlier.delete(toLatin1(hash))) return;
    this.waiting.set(hash, this.waitingBytes);
    this.waitingBytes += HASH_BYTES;
    if (this.waitingBytes === this.waiting.length) this.writeOut();
  }

  /** Writes the ids that wait in memory. */
  writeOut(): void {
    const length = this.waitingBytes;
    this.waitingBytes = 0;
    if (length === 0) return;
    this.attempt((fd) => {
      for (let done = 0; done < length;)
        done += writeSync(fd, this.waiting, done, length - done, this.sizeBytes + done);
      this.sizeBytes += length;
    });
  }

  /** Called after a flush, which makes the ids of all connected blocks unnecessary. */
  flushed(): void {
    this.waitingBytes = 0;
    // The ids of blocks that are not connected yet must survive another kill.
    if (this.sizeBytes === 0 || this.earlier.size > 0) return;
    this.attempt((fd) => ftruncateSync(fd, 0));
    this.sizeBytes = 0;
  }

  /** Called when the blocks of an earlier process are connected. */
  forgetEarlier(): void {
    this.earlier.clear();
  }

  close(): void {
    this.writeOut();
    if (this.fd !== null) closeSync(this.fd);
    if (this.fd !== null && this.sizeBytes === 0 && !this.hasFailed) rmSync(this.path, { force: true });
    this.fd = null;
    this.hasFailed = true;
  }

  private attempt(write: (fd: number) => void): void {
    if (this.hasFailed) return;
    try {
      if (this.fd === null) {
        refuseSpecialFile(this.path);
        this.fd = openSync(this.path, constants.O_RDWR | constants.O_CREAT, 0o600);
      }
      write(this.fd);
    } catch {
      this.hasFailed = true;
    }
  }
}
