/**
 * Block files `blk?????.dat` in Core's format (magic, length, block) and undo files `rev?????.dat` beside them
 * (magic, length, undo data, SHA-256d over the block's parent hash and the data). Owns file numbers, positions and open
 * descriptors; knows nothing of what a block means. Writes are plain `write(2)`: what was written survives the death of
 * the process; `sync` makes it survive that of the machine and is called before a flush points to the bytes.
 */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  rmSync,
  writevSync,
} from 'node:fs';
import { read } from 'node:fs';
import { promisify } from 'node:util';
import { join } from 'node:path';
import { sha256dPair } from '../crypto/hash.js';
import { assert } from '../util/assert.js';
import type { Bytes } from '../util/bytes.js';

const readAsync = promisify(read);

/** Core's MAX_BLOCKFILE_SIZE. */
export const MAX_BLOCK_FILE_BYTES = 128 << 20;
const HEAD_BYTES = 8;
const CHECKSUM_BYTES = 32;
const MAX_OPEN_FILES = 32;

/** Where a block's bytes begin, behind magic and length (Core's `CDiskBlockPos`). */
export interface FilePosition {
  file: number;
  offset: number;
}

type Kind = 'blk' | 'rev';

/** The files contradict what the database says of them; the message tells which and what to do. */
export class BlockFileError extends Error {
  override readonly name = 'BlockFileError';
}

export class BlockFiles {
  private readonly folder: string;
  private readonly magic: Buffer;
  private readonly maxFileBytes: number;
  private readonly descriptors = new Map<string, number>();
  private readonly ends = new Map<string, number>();
  private readonly unsynced = new Set<string>();
  /** Number of the block file that is appended to. */
  private current = 0;

  constructor(options: { folder: string; magic: Buffer; maxFileBytes?: number }) {
    this.folder = options.folder;
    this.magic = options.magic;
    this.maxFileBytes = options.maxFileBytes ?? MAX_BLOCK_FILE_BYTES;
    mkdirSync(this.folder, { recursive: true });
    this.current = Math.max(0, ...this.fileNumbers());
  }

  path(kind: Kind, file: number): string {
    return join(this.folder, `${kind}${String(file).padStart(5, '0')}.dat`);
  }

  /** Numbers of the block files on disk, ascending. */
  fileNumbers(): number[] {
    return readdirSync(this.folder)
      .map((name) => /^blk(\d{5})\.dat$/.exec(name)?.[1])
      .filter((digits) => digits !== undefined)
      .map(Number)
      .sort((a, b) => a - b);
  }

  get currentFile(): number {
    return this.current;
  }

  /** Bytes written to a file so far; 0 when it does not exist. */
  sizeBytes(kind: Kind, file: number): number {
    const key = `${kind}${file}`;
    const known = this.ends.get(key);
    if (known !== undefined) return known;
    if (!existsSync(this.path(kind, file))) return 0;
    const size = fstatSync(this.descriptor(kind, file)).size;
    this.ends.set(key, size);
    return size;
  }

  private descriptor(kind: Kind, file: number): number {
    const key = `${kind}${file}`;
    let fd = this.descriptors.get(key);
    if (fd !== undefined) {
      this.descriptors.delete(key);
      this.descriptors.set(key, fd);
      return fd;
    }
    if (this.descriptors.size >= MAX_OPEN_FILES) {
      const [oldest, oldestFd] = this.descriptors.entries().next().value!;
      if (this.unsynced.delete(oldest)) fdatasyncSync(oldestFd);
      closeSync(oldestFd);
      this.descriptors.delete(oldest);
    }
    const path = this.path(kind, file);
    fd = openSync(path, existsSync(path) ? 'r+' : 'w+');
    this.descriptors.set(key, fd);
    return fd;
  }

  private append(kind: Kind, file: number, parts: Bytes[]): number {
    const at = this.sizeBytes(kind, file);
    const fd = this.descriptor(kind, file);
    const total = parts.reduce((sum, part) => sum + part.length, 0);
    let written = writevSync(fd, parts, at);
    if (written < total) {
      const whole = Buffer.concat(parts);
      while (written < total) written += writevSync(fd, [whole.subarray(written)], at + written);
    }
    this.ends.set(`${kind}${file}`, at + total);
    this.unsynced.add(`${kind}${file}`);
    return at;
  }

  /** Appends a block; returns where its bytes begin. */
  writeBlock(block: Bytes): FilePosition {
    if (this.sizeBytes('blk', this.current) + HEAD_BYTES + block.length >= this.maxFileBytes) {
      if (this.sizeBytes('blk', this.current) > 0) this.current++;
    }
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    this.magic.copy(head);
    head.writeUInt32LE(block.length, 4);
    const at = this.append('blk', this.current, [head, block]);
    return { file: this.current, offset: at + HEAD_BYTES };
  }

  /** Appends undo data beside the block's file; returns the offset of the data in the undo file. */
  writeUndo(file: number, parentHash: Bytes, undo: Bytes): number {
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    this.magic.copy(head);
    head.writeUInt32LE(undo.length, 4);
    const at = this.append('rev', file, [head, undo, sha256dPair(parentHash, undo)]);
    return at + HEAD_BYTES;
  }

  private lengthAt(kind: Kind, position: FilePosition): number {
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    const got = readSync(
      this.descriptor(kind, position.file),
      head,
      0,
      HEAD_BYTES,
      position.offset - HEAD_BYTES,
    );
    if (got < HEAD_BYTES || !head.subarray(0, 4).equals(this.magic)) throw this.damaged(kind, position);
    return head.readUInt32LE(4);
  }

  private damaged(kind: Kind, position: FilePosition): BlockFileError {
    return new BlockFileError(
      `${this.path(kind, position.file)} does not hold what the database expects at ${position.offset}. ` +
        'Restart with -reindex to rebuild the database from the block files.',
    );
  }

  /** Reads a whole block synchronously. Throws `BlockFileError` when the file does not hold one there. */
  readBlockSync(position: FilePosition): Buffer {
    const bytes = Buffer.allocUnsafe(this.lengthAt('blk', position));
    const got = readSync(this.descriptor('blk', position.file), bytes, 0, bytes.length, position.offset);
    if (got < bytes.length) throw this.damaged('blk', position);
    return bytes;
  }

  async readBlock(position: FilePosition): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(this.lengthAt('blk', position));
    const { bytesRead } = await readAsync(
      this.descriptor('blk', position.file),
      bytes,
      0,
      bytes.length,
      position.offset,
    );
    if (bytesRead < bytes.length) throw this.damaged('blk', position);
    return bytes;
  }

  /** Reads `length` bytes of a block from `from` on (a transaction by its offset). */
  async readPart(position: FilePosition, from: number, length: number): Promise<Buffer> {
    const available = Math.max(0, Math.min(length, this.lengthAt('blk', position) - from));
    const bytes = Buffer.allocUnsafe(available);
    const fd = this.descriptor('blk', position.file);
    const { bytesRead } = await readAsync(fd, bytes, 0, available, position.offset + from);
    if (bytesRead < available) throw this.damaged('blk', position);
    return bytes;
  }

  /** Reads and verifies undo data. */
  readUndoSync(position: FilePosition, parentHash: Bytes): Buffer {
    const length = this.lengthAt('rev', position);
    const bytes = Buffer.allocUnsafe(length + CHECKSUM_BYTES);
    const got = readSync(this.descriptor('rev', position.file), bytes, 0, bytes.length, position.offset);
    const undo = bytes.subarray(0, length);
    if (got < bytes.length || !sha256dPair(parentHash, undo).equals(bytes.subarray(length))) {
      throw this.damaged('rev', position);
    }
    return undo;
  }

  /** Makes everything written so far durable. */
  sync(): void {
    for (const key of this.unsynced) {
      const fd = this.descriptors.get(key);
      assert(fd !== undefined, `unsynced file ${key} is not open`);
      fdatasyncSync(fd);
    }
    this.unsynced.clear();
  }

  /** Forgets a block whose record begins at `end` but was not written whole; padding of other programs stays. */
  dropTornBlock(file: number, end: number): void {
    if (this.sizeBytes('blk', file) <= end) return;
    const head = Buffer.alloc(this.magic.length);
    const fd = this.descriptor('blk', file);
    const got = readSync(fd, head, 0, head.length, end);
    if (got === 0 || !this.magic.subarray(0, got).equals(head.subarray(0, got))) return;
    ftruncateSync(fd, end);
    this.ends.set(`blk${file}`, end);
  }

  /** Deletes a pair of files (pruning). */
  remove(file: number): void {
    for (const kind of ['blk', 'rev'] as const) {
      const key = `${kind}${file}`;
      const fd = this.descriptors.get(key);
      if (fd !== undefined) closeSync(fd);
      this.descriptors.delete(key);
      this.ends.delete(key);
      this.unsynced.delete(key);
      rmSync(this.path(kind, file), { force: true });
    }
  }

  close(): void {
    this.sync();
    for (const fd of this.descriptors.values()) closeSync(fd);
    this.descriptors.clear();
  }
}
