/**
 * Block files `blk?????.dat` in Core's format (magic, length, block) and undo files `rev?????.dat` beside them (magic,
 * length, undo data, SHA-256d over the block's parent hash and the data). Manages file numbers, positions and open
 * descriptors. Does not parse blocks. Records may wait in memory until several are written with one `write(2)`. After
 * `writeOut` they survive a crash of the process, after `sync` also a crash of the machine. `sync` is called before the
 * database refers to the data. Reads include waiting records.
 */
import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { read } from 'node:fs';
import { promisify } from 'node:util';
import { join } from 'node:path';
import { sha256dPair } from '../../crypto/hash.js';
import { loadNative } from '../../native/binding.js';
import { assert } from '../../util/assert.js';
import { EnvironmentError, environmentError, withPath } from '../../util/text/environmentError.js';
import { makeFolder } from '../../util/files/makeFolder.js';
import type { Bytes } from '../../util/bytes.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
import { OperatorError } from '../../util/text/operatorError.js';
import { RecordsAhead } from './recordsAhead.js';

const readAsync = promisify(read);

/** Core's MAX_BLOCKFILE_SIZE. */
export const MAX_BLOCK_FILE_BYTES = 128 << 20;
const HEAD_BYTES = 8;
/** Size in bytes of the first read of a record. Small blocks need only this read. */
const FIRST_BYTES = 4096;
const CHECKSUM_BYTES = 32;
const MAX_OPEN_FILES = 32;
/** Maximum size in bytes of a synchronous read. Copying that much from the page cache takes some microseconds. Arbitrary. */
const READ_NOW_BYTES = 64 << 10;
/** Maximum size in bytes of the records of a kind that wait in memory. Larger records are written at once. Arbitrary. */
const WAITING_BYTES = 256 << 10;
const WHAT_TO_DO = 'Restart with -reindex to rebuild the database from the block files.';

/** Position of a block's bytes in its file, after magic and length (Core's `CDiskBlockPos`). */
export interface FilePosition {
  file: number;
  offset: number;
}

/** Consecutive blocks that were read in one call. */
export interface StoredRun {
  readonly bytes: Buffer;
  /** Start and end offset of each block in `bytes`. */
  readonly places: Uint32Array;
}

type Kind = 'blk' | 'rev';

/** Thrown if the files do not match the database, or cannot be read. The message names the file and what the operator can do. */
export class BlockFileError extends OperatorError {
  override readonly name = 'BlockFileError';
}

interface OpenFile {
  fd: number;
  writable: boolean;
  /** Number of running reads. If the file was removed from the table (`retired`), the last read closes the descriptor. */
  pins: number;
  retired: boolean;
}

/** Records at the end of a file that are not written yet. */
class WaitingRecords {
  file = 0;
  /** Offset in the file at which the records begin. */
  offset = 0;
  bytes = 0;
  readonly memory = Buffer.allocUnsafeSlow(WAITING_BYTES);

  add(parts: readonly Bytes[]): void {
    for (const part of parts) {
      this.memory.set(part, this.bytes);
      this.bytes += part.length;
    }
  }
}

export class BlockFiles {
  private readonly folder: string;
  private readonly magic: Buffer;
  private readonly maxFileBytes: number;
  /** Open files, sorted from the least recently used. */
  private readonly opened = new Map<string, OpenFile>();
  private readonly ends = new Map<string, number>();
  private readonly unsynced = new Set<string>();
  /** Number of the block file to which new blocks are appended. */
  private current = 0;
  /** Whether a write has failed. The caller then stops the node, and `close` does not try to write again. */
  private hasFailed = false;
  private readonly waiting = { blk: new WaitingRecords(), rev: new WaitingRecords() };
  private readonly ahead: Readonly<Record<Kind, RecordsAhead>>;

  constructor(options: { folder: string; magic: Buffer; maxFileBytes?: number }) {
    this.folder = options.folder;
    this.magic = options.magic;
    this.maxFileBytes = options.maxFileBytes ?? MAX_BLOCK_FILE_BYTES;
    this.ahead = { blk: new RecordsAhead(this.magic, 0), rev: new RecordsAhead(this.magic, CHECKSUM_BYTES) };
    makeFolder(this.folder);
    this.current = Math.max(0, ...this.fileNumbers());
  }

  path(kind: Kind, file: number): string {
    return join(this.folder, fileName(kind, file));
  }

  /** Numbers of the block files on disk, in ascending order. */
  fileNumbers(): number[] {
    return numbersOf('blk', this.folder);
  }

  /** Numbers of the undo files on disk whose block files are missing, in ascending order. */
  lonelyUndoFiles(): number[] {
    const withBlocks = new Set(this.fileNumbers());
    return numbersOf('rev', this.folder).filter((file) => !withBlocks.has(file));
  }

  get currentFile(): number {
    return this.current;
  }

  /** Size of a file in bytes, including data that is not synced; 0 if the file does not exist. */
  sizeBytes(kind: Kind, file: number): number {
    const key = `${kind}${file}`;
    const known = this.ends.get(key);
    if (known !== undefined) return known;
    if (!existsSync(this.path(kind, file))) return 0;
    const size = statSync(this.path(kind, file)).size;
    this.ends.set(key, size);
    return size;
  }

  /** Returns the open file for reading. Records that wait for it are written first. Errors as in `open`. */
  private openToRead(kind: Kind, file: number): OpenFile {
    const { waiting } = this;
    if (waiting[kind].bytes > 0 && waiting[kind].file === file) this.writeOut();
    return this.open(kind, file, false);
  }

  /**
   * Returns the open file, and opens it if necessary. A missing file is created only if `writable` is set; otherwise throws
   * `BlockFileError`.
   */
  private open(kind: Kind, file: number, writable: boolean): OpenFile {
    const key = `${kind}${file}`;
    const known = this.opened.get(key);
    if (known && (known.writable || !writable)) {
      this.opened.delete(key);
      this.opened.set(key, known);
      return known;
    }
    if (known) this.retire(key, known);
    while (this.opened.size >= MAX_OPEN_FILES) this.retire(...this.opened.entries().next().value!);
    const path = this.path(kind, file);
    let fd: number;
    if (writable) {
      refuseSpecialFile(path);
      fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o666);
    } else {
      try {
        refuseSpecialFile(path);
        fd = openSync(path, 'r');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw unreadable(error, path);
        throw new BlockFileError(`${path} is missing. ${WHAT_TO_DO}`);
      }
    }
    const opened = { fd, writable, pins: 0, retired: false };
    this.opened.set(key, opened);
    return opened;
  }

  /**
   * Removes an open file from the table. The descriptor is closed when the last read ends, because a closed descriptor
   * number could be reused for another file during a read.
   */
  private retire(key: string, file: OpenFile): void {
    if (this.unsynced.delete(key)) fdatasyncSync(file.fd);
    this.opened.delete(key);
    file.retired = true;
    if (file.pins === 0) closeSync(file.fd);
  }

  /**
   * Fills `target` with bytes of a block from offset `from` on, as far as they are in the page cache. Returns the number of
   * bytes; 0 if the disk would have to be read. The bytes may include a part of the next block. Throws `BlockFileError` if
   * the file does not exist.
   */
  readNow({ file, offset }: FilePosition, from: number, target: Buffer): number {
    const { fd } = this.openToRead('blk', file);
    return Math.max(0, loadNative()?.readCached(fd, target, offset + from) ?? 0);
  }

  /** Runs `use` with the open descriptor of a file. The descriptor stays open until `use` has finished. */
  private async hold<T>(kind: Kind, file: number, use: (fd: number) => Promise<T>): Promise<T> {
    const opened = this.openToRead(kind, file);
    opened.pins++;
    try {
      return await use(opened.fd);
    } catch (error) {
      throw unreadable(error, this.path(kind, file));
    } finally {
      opened.pins--;
      if (opened.retired && opened.pins === 0) closeSync(opened.fd);
    }
  }

  /** Appends a record, which waits in memory if it is short. Returns its offset. */
  private append(kind: Kind, file: number, parts: Bytes[]): number {
    const at = this.sizeBytes(kind, file);
    const waiting = this.waiting[kind];
    let total = 0;
    for (const part of parts) total += part.length;
    if (waiting.bytes > 0 && (waiting.file !== file || waiting.bytes + total > WAITING_BYTES))
      this.writeOut();
    if (total > WAITING_BYTES) this.writeAt(kind, file, at, Buffer.concat(parts));
    else {
      if (waiting.bytes === 0) Object.assign(waiting, { file, offset: at });
      waiting.add(parts);
    }
    this.ends.set(`${kind}${file}`, at + total);
    return at;
  }

  /** Writes all records that wait in memory to their files. Throws the system's error, with the path. */
  writeOut(): void {
    for (const kind of ['blk', 'rev'] as const) {
      const { file, offset, bytes, memory } = this.waiting[kind];
      if (bytes > 0) this.writeAt(kind, file, offset, memory.subarray(0, bytes));
      this.waiting[kind].bytes = 0;
    }
  }

  private writeAt(kind: Kind, file: number, at: number, bytes: Buffer): void {
    try {
      const { fd } = this.open(kind, file, true);
      for (let written = 0; written < bytes.length;)
        written += writeSync(fd, bytes, written, bytes.length - written, at + written);
    } catch (error) {
      this.hasFailed = true;
      throw withPath(error, this.path(kind, file));
    }
    this.unsynced.add(`${kind}${file}`);
  }

  /** Appends a block to the current block file; `writeOut` writes it. Returns the position of the block's bytes. */
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

  /** Appends undo data to the undo file of block file `file`; `writeOut` writes it. Returns the offset of the data. */
  writeUndo(file: number, parentHash: Bytes, undo: Bytes): number {
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    this.magic.copy(head);
    head.writeUInt32LE(undo.length, 4);
    const at = this.append('rev', file, [head, undo, sha256dPair(parentHash, undo)]);
    return at + HEAD_BYTES;
  }

  /** Reads into `target` synchronously. Returns the number of bytes read. */
  private readSync(kind: Kind, file: number, target: Buffer, at: number): number {
    const { fd } = this.openToRead(kind, file);
    try {
      return readSync(fd, target, 0, target.length, at);
    } catch (error) {
      throw unreadable(error, this.path(kind, file));
    }
  }

  private lengthAtSync(kind: Kind, position: FilePosition): number {
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    const got = this.readSync(kind, position.file, head, position.offset - HEAD_BYTES);
    return this.lengthOf(kind, position, head, got, this.sizeBytes(kind, position.file));
  }

  /** Length of the record that begins with this head. `got` is the number of bytes of the head that could be read. */
  private lengthOf(kind: Kind, position: FilePosition, head: Buffer, got: number, fileEnd: number): number {
    if (got < HEAD_BYTES || !head.subarray(0, 4).equals(this.magic)) throw this.corruption(kind, position);
    const length = head.readUInt32LE(4);
    if (position.offset + length > fileEnd) throw this.corruption(kind, position);
    return length;
  }

  /** Creates the error for a corrupt record. It names the file and what the operator can do. */
  corruption(kind: Kind, position: FilePosition): BlockFileError {
    return new BlockFileError(
      `${this.path(kind, position.file)} does not contain the expected data at byte ${position.offset}. ${WHAT_TO_DO}`,
    );
  }

  /** Reads a whole block synchronously. Throws `BlockFileError` without a block at this position. */
  readBlockSync(position: FilePosition): Buffer {
    const bytes = Buffer.allocUnsafe(this.lengthAtSync('blk', position));
    const got = this.readSync('blk', position.file, bytes, position.offset);
    if (got < bytes.length) throw this.corruption('blk', position);
    return bytes;
  }

  readBlock(position: FilePosition): Promise<Buffer> {
    return this.readRecord('blk', position, 0);
  }

  /**
   * Like `readBlock`, for blocks that are mostly read in the order of the file. Reads several blocks with one call if they
   * are in the page cache.
   */
  async readNextBlock(position: FilePosition): Promise<Buffer> {
    const { file, offset } = position;
    const [head, ahead] = [offset - HEAD_BYTES, this.ahead.blk];
    const read = (target: Buffer, at: number): number =>
      loadNative()?.readCached(this.openToRead('blk', file).fd, target, at) ?? 0;
    const known = ahead.record(file, head, this.sizeBytes('blk', file), read);
    if (known !== null) return known;
    const block = await this.readBlock(position);
    ahead.passed(file, head, block.length);
    return block;
  }

  /** Reads a record's bytes and the `extra` bytes that follow. */
  private readRecord(kind: Kind, position: FilePosition, extra: number): Promise<Buffer> {
    const { file, offset } = position;
    const fileEnd = this.sizeBytes(kind, file);
    return this.hold(kind, file, async (fd) => {
      const start = offset - HEAD_BYTES;
      const first = Buffer.allocUnsafe(start + FIRST_BYTES <= fileEnd ? FIRST_BYTES : HEAD_BYTES);
      const got = await readBytes(fd, first, start);
      const length = this.lengthOf(kind, position, first, got, fileEnd) + extra;
      if (HEAD_BYTES + length <= got) return first.subarray(HEAD_BYTES, HEAD_BYTES + length);
      const bytes = Buffer.allocUnsafe(length);
      const had = first.copy(bytes, 0, HEAD_BYTES, got);
      const rest = bytes.subarray(had);
      if ((await readBytes(fd, rest, offset + had)) < rest.length) throw this.corruption(kind, position);
      return bytes;
    });
  }

  /**
   * Reads consecutive blocks of a file with one call. `starts` are the ascending offsets of the blocks. Reads about as many
   * bytes as `memory` has, more if the first block alone is larger. The result may be a view of `memory`. Rejects with
   * `BlockFileError` if the file does not contain the first block at its offset. A later block that is not at its offset
   * ends the run.
   */
  async readRun(file: number, starts: Uint32Array, memory: Buffer): Promise<StoredRun> {
    const offset = starts[0]!;
    const from = offset - HEAD_BYTES;
    const fileEnd = this.sizeBytes('blk', file);
    return this.hold('blk', file, async (fd) => {
      const last = starts[starts.length - 1]!;
      const bytes = memory.subarray(0, Math.min(last - from + FIRST_BYTES, fileEnd - from));
      const places = this.placesIn(bytes.subarray(0, await readBytes(fd, bytes, from)), starts, from);
      if (places.length > 0) return { bytes, places };
      const whole = await this.readBlock({ file, offset });
      return { bytes: whole, places: Uint32Array.of(0, whole.length) };
    });
  }

  /**
   * Start and end of each block within `bytes`, which begin at offset `from` of the file. Ends at the first block that is
   * not at its offset.
   */
  private placesIn(bytes: Buffer, starts: Uint32Array, from: number): Uint32Array {
    const magic = this.magic.readUInt32LE(0);
    const places = new Uint32Array(2 * starts.length);
    let count = 0;
    for (; count < starts.length; count++) {
      const at = starts[count]! - from;
      if (at > bytes.length || bytes.readUInt32LE(at - HEAD_BYTES) !== magic) break;
      const end = at + bytes.readUInt32LE(at - 4);
      if (end > bytes.length) break;
      places[2 * count] = at;
      places[2 * count + 1] = end;
    }
    return places.subarray(0, 2 * count);
  }

  /**
   * Reads at most `length` bytes of a block from offset `from` on. The result may include bytes of the next block, so the
   * caller must know the length of the block.
   */
  readPart({ file, offset }: FilePosition, from: number, length: number): Promise<Buffer> {
    const left = Math.max(0, this.sizeBytes('blk', file) - offset - from);
    return this.hold('blk', file, async (fd) => {
      const bytes = Buffer.allocUnsafe(Math.min(length, left));
      return bytes.subarray(0, await readBytes(fd, bytes, offset + from));
    });
  }

  /** Reads and verifies undo data. Throws `BlockFileError` if it is corrupt. */
  readUndoSync(position: FilePosition, parentHash: Bytes): Buffer {
    const length = this.lengthAtSync('rev', position);
    const bytes = Buffer.allocUnsafe(length + CHECKSUM_BYTES);
    const got = this.readSync('rev', position.file, bytes, position.offset);
    if (got < bytes.length) throw this.corruption('rev', position);
    return this.checkedUndo(position, parentHash, bytes);
  }

  /**
   * Whether the files contain exactly this undo data, with its checksum. Reads several records with one call if it is called
   * in the order of the file. Throws `BlockFileError` if the record cannot be read.
   */
  hasUndoSync(position: FilePosition, parentHash: Bytes, undo: Buffer): boolean {
    const { file, offset } = position;
    const [head, ahead] = [offset - HEAD_BYTES, this.ahead.rev];
    const read = (target: Buffer, at: number): number => this.readSync('rev', file, target, at);
    const known = ahead.record(file, head, this.sizeBytes('rev', file), read);
    if (known !== null)
      return (
        undo.equals(known.subarray(0, -CHECKSUM_BYTES)) &&
        sha256dPair(parentHash, undo).equals(known.subarray(-CHECKSUM_BYTES))
      );
    const stored = this.readUndoSync(position, parentHash);
    ahead.passed(file, head, stored.length);
    return stored.equals(undo);
  }

  async readUndo(position: FilePosition, parentHash: Bytes): Promise<Buffer> {
    return this.checkedUndo(position, parentHash, await this.readRecord('rev', position, CHECKSUM_BYTES));
  }

  /** Like `readUndo`, for undo data that is mostly read in the order of the file (see `readNextBlock`). */
  async readNextUndo(position: FilePosition, parentHash: Bytes): Promise<Buffer> {
    const { file, offset } = position;
    const [head, ahead] = [offset - HEAD_BYTES, this.ahead.rev];
    const read = (target: Buffer, at: number): number =>
      loadNative()?.readCached(this.openToRead('rev', file).fd, target, at) ?? 0;
    const known = ahead.record(file, head, this.sizeBytes('rev', file), read);
    if (known !== null) return this.checkedUndo(position, parentHash, known);
    const undo = await this.readUndo(position, parentHash);
    ahead.passed(file, head, undo.length);
    return undo;
  }

  private checkedUndo(position: FilePosition, parentHash: Bytes, bytes: Buffer): Buffer {
    const undo = bytes.subarray(0, -CHECKSUM_BYTES);
    if (!sha256dPair(parentHash, undo).equals(bytes.subarray(-CHECKSUM_BYTES)))
      throw this.corruption('rev', position);
    return undo;
  }

  /** Writes waiting records, and syncs all written data to disk. */
  sync(): void {
    this.writeOut();
    this.syncWritten();
  }

  private syncWritten(): void {
    for (const key of this.unsynced) {
      const file = this.opened.get(key);
      assert(file !== undefined, `unsynced file ${key} is not open`);
      fdatasyncSync(file.fd);
    }
    this.unsynced.clear();
  }

  /** Truncates a block file at the offset `end`, in order to remove an incomplete record. */
  truncate(file: number, end: number): void {
    this.writeOut();
    this.ahead.blk.forget();
    const { fd } = this.open('blk', file, true);
    try {
      ftruncateSync(fd, end);
    } catch (error) {
      throw withPath(error, this.path('blk', file));
    }
    this.ends.set(`blk${file}`, end);
  }

  /**
   * Deletes a block file and its undo file (pruning). The undo file is deleted first, so that a later start can detect a
   * crash between the two deletions.
   */
  remove(file: number): void {
    for (const kind of ['rev', 'blk'] as const) this.removeOne(kind, file);
  }

  private removeOne(kind: Kind, file: number): void {
    const key = `${kind}${file}`;
    this.ahead[kind].forget();
    if (this.waiting[kind].file === file) this.waiting[kind].bytes = 0;
    this.unsynced.delete(key);
    const opened = this.opened.get(key);
    if (opened) this.retire(key, opened);
    this.ends.delete(key);
    rmSync(this.path(kind, file), { force: true });
  }

  close(): void {
    if (!this.hasFailed) this.writeOut();
    this.syncWritten();
    for (const [key, file] of this.opened) this.retire(key, file);
  }
}

/** Converts a system error on read to `BlockFileError`. Other errors are returned unchanged. */
function unreadable(error: unknown, path: string): unknown {
  const failure = environmentError(error, path);
  return failure instanceof EnvironmentError ? new BlockFileError(failure.message, { cause: error }) : error;
}

/** Reads short data synchronously if it is in the page cache, otherwise on a thread. Returns the number of bytes read. */
async function readBytes(fd: number, target: Buffer, at: number): Promise<number> {
  if (target.length <= READ_NOW_BYTES && loadNative()?.readCached(fd, target, at) === target.length)
    return target.length;
  const { bytesRead } = await readAsync(fd, target, 0, target.length, at);
  return bytesRead;
}

/**
 * Deletes all undo files. Undo data is written again when the blocks are connected again. Source: Core
 * `CleanupBlockRevFiles`.
 */
export function removeUndoFiles(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (/^rev\d{5}\.dat$/.test(name)) rmSync(join(folder, name));
  }
}

/**
 * Deletes the block files that follow a gap in the file numbers, because no chain from the genesis block can reach their
 * blocks. Source: `CleanupBlockRevFiles`.
 */
export function removeUnreachableFiles(folder: string): void {
  let expected = 0;
  for (const file of numbersOf('blk', folder)) {
    if (file === expected) expected++;
    else rmSync(join(folder, fileName('blk', file)));
  }
}

/** Numbers of the block or undo files in a folder, in ascending order. */
function numbersOf(kind: Kind, folder: string): number[] {
  return readdirSync(folder)
    .map((name) => /^(blk|rev)(\d{5})\.dat$/.exec(name))
    .filter((found) => found?.[1] === kind)
    .map((found) => Number(found![2]))
    .sort((a, b) => a - b);
}

function fileName(kind: Kind, file: number): string {
  return `${kind}${String(file).padStart(5, '0')}.dat`;
}
