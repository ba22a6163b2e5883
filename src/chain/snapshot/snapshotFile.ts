/**
 * Writes a snapshot under a temporary name and reads one back, with the hash of the whole file. Defines the order of pieces
 * and their checksums; the caller interprets the rows.
 */
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readSync } from 'node:fs';
import { open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Bytes } from '../../util/bytes.js';
import {
  environmentError,
  EnvironmentError,
  systemErrorCode,
  systemErrorReason,
} from '../../util/text/environmentError.js';
import { ReadError } from '../../util/reader.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
import {
  jsonPiece,
  KIND,
  MAX_PIECE_BYTES,
  PIECE_HEAD_BYTES,
  PiecePacker,
  pieceHead,
  SNAPSHOT_FORMAT,
  PIECE_BYTES,
  SNAPSHOT_MAGIC,
  unpackHeaders,
  type SectionSummary,
  type SnapshotEnd,
  type SnapshotHead,
  type UnpackedHeader,
} from './snapshotFormat.js';
import { hasChecksum, unpackRecords, type SnapshotRows } from './snapshotRows.js';

/** Memory for a usual payload. It may exceed `PIECE_BYTES` by a row. */
const USUAL_MEMORY_BYTES = PIECE_BYTES + (PIECE_BYTES >> 4);
/** Number of released payloads whose memory is kept. */
const MOST_SPARE = 4;

/** Error: a snapshot cannot be written or is invalid. The message contains the file and the remedy. */
export class SnapshotError extends EnvironmentError {
  override readonly name = 'SnapshotError';
}

/** Receives the bytes of a snapshot; discards them if only hashes are needed. */
export interface SnapshotSink {
  write(bytes: Bytes): Promise<void>;
}

/** Packs a snapshot: the head, then each section completely, then `finish`. */
export class SnapshotPacker {
  private readonly sink: SnapshotSink | null;
  private readonly fileHash = createHash('sha256');
  private readonly parts: SectionSummary[] = [];
  /** Number of bytes of the file that were written so far. */
  sizeBytes = 0;

  constructor(sink: SnapshotSink | null) {
    this.sink = sink;
  }

  private async put(bytes: Bytes): Promise<void> {
    this.fileHash.update(bytes);
    this.sizeBytes += bytes.length;
    await this.sink?.write(bytes);
  }

  private async putPiece(payload: Bytes): Promise<void> {
    await this.put(pieceHead(payload));
    await this.put(payload);
  }

  async head(head: SnapshotHead): Promise<void> {
    await this.put(SNAPSHOT_MAGIC);
    await this.putPiece(jsonPiece(KIND.head, head));
  }

  /** Writes a section. `add` must pass the section's rows to the packer and write each full payload. */
  async part(
    name: string,
    kind: number,
    isCoins: boolean,
    add: (packer: PiecePacker, full: (payload: Buffer | null) => Promise<void>) => Promise<number>,
  ): Promise<SectionSummary> {
    const hash = createHash('sha256');
    const packer = new PiecePacker(kind, isCoins);
    const full = async (payload: Buffer | null): Promise<void> => {
      if (payload === null) return;
      hash.update(payload);
      await this.putPiece(payload);
    };
    const rows = await add(packer, full);
    await full(packer.take());
    const summary = { name, rows, hash: hash.digest('hex') };
    this.parts.push(summary);
    return summary;
  }

  /** Writes the last piece of the file. Returns the SHA-256 of the file in hex. */
  async finish(): Promise<string> {
    await this.putPiece(jsonPiece(KIND.end, { parts: this.parts }));
    return this.fileHash.digest('hex');
  }
}

/**
 * Writes a file by `write` under a temporary name, flushes it to disk and renames it. A kill leaves at most the temporary
 * file, which the next attempt overwrites. Throws `SnapshotError` when the name exists or the disk fails.
 */
export async function writeSnapshotFile<T>(
  path: string,
  write: (sink: SnapshotSink) => Promise<T>,
): Promise<T> {
  const temporary = `${path}.incomplete`;
  try {
    if ((await stat(path).catch(absent)) !== null)
      throw new SnapshotError(`${path} already exists. Move it away or choose another name.`);
    refuseSpecialFile(temporary);
    const file = await open(temporary, 'w').catch((error: unknown) => {
      if (systemErrorCode(error) !== 'ENOENT') throw error;
      throw new SnapshotError(
        `The folder ${dirname(path)} is missing (ENOENT). Create it or choose another path.`,
      );
    });
    try {
      const outcome = await write({ write: (bytes) => writeWhole(file, bytes) });
      await file.sync();
      await file.close();
      await rename(temporary, path);
      syncFolder(dirname(path));
      return outcome;
    } catch (error) {
      await file.close().catch(() => undefined);
      await rm(temporary, { force: true });
      throw error;
    }
  } catch (error) {
    throw snapshotError(error, path);
  }
}

function absent(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
  throw error;
}

async function writeWhole(file: FileHandle, bytes: Bytes): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
}

/** Syncs the folder, so that the new name survives a crash of the machine. On Windows folders cannot be opened. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function snapshotError(error: unknown, path: string): unknown {
  const known = environmentError(error, path);
  return known instanceof EnvironmentError && !(known instanceof SnapshotError)
    ? new SnapshotError(known.message)
    : known;
}

/** Codes of system errors that the path causes which the operator gave. The file at this path is not the node's. */
const PATH_ERRORS: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'EFTYPE', 'ELOOP']);

/** Converts the error of opening or reading a snapshot. */
function readingError(error: unknown, path: string): unknown {
  const code = systemErrorCode(error);
  if (code === null || !PATH_ERRORS.has(code)) return snapshotError(error, path);
  return new SnapshotError(
    `The snapshot ${path} cannot be read: ${systemErrorReason(code)} (${code}). Check the path.`,
  );
}

/** One piece of a snapshot file. */
export interface ReadPiece {
  readonly kind: number;
  readonly payload: Buffer;
  readonly checksum: Buffer;
  /** Offset of its end in the file. */
  readonly end: number;
}

/** Reads a snapshot once from beginning to end. */
export class SnapshotReader {
  readonly path: string;
  readonly head: SnapshotHead;
  private readonly fd: number;
  private readonly fileHash = createHash('sha256');
  private readonly partHashes = new Map<number, ReturnType<typeof createHash>>();
  private at = 0;
  private next: ReadPiece | null = null;
  /** Memory of released payloads, for the next ones: new memory of this size costs more than reading into it. */
  private readonly spare: Buffer[] = [];

  /** Opens the file and reads its head. Throws `SnapshotError` for a file that is missing or not a snapshot. */
  constructor(path: string) {
    this.path = path;
    try {
      refuseSpecialFile(path);
      this.fd = openSync(path, 'r');
    } catch (error) {
      throw readingError(error, path);
    }
    try {
      if (!this.fill(Buffer.alloc(SNAPSHOT_MAGIC.length)).equals(SNAPSHOT_MAGIC))
        throw new SnapshotError(`${path} is not a snapshot of lbcnode.`);
      this.head = this.readHead();
    } catch (error) {
      closeSync(this.fd);
      throw error;
    }
  }

  close(): void {
    closeSync(this.fd);
  }

  get readBytes(): number {
    return this.at;
  }

  private readHead(): SnapshotHead {
    const piece = this.verified(this.readPiece());
    if (piece.kind !== KIND.head) throw this.corruption('its first chunk is not a header');
    const head = this.parse(piece.payload) as SnapshotHead | null;
    if (typeof head?.format !== 'number') throw this.corruption('its header contains no format version');
    if (head.format !== SNAPSHOT_FORMAT)
      throw new SnapshotError(
        `${this.path} has format ${head.format}, and this version of lbcnode reads only format ` +
          `${SNAPSHOT_FORMAT}. Use a matching version of lbcnode.`,
      );
    const isWhole =
      typeof head.network === 'string' &&
      typeof head.rules === 'string' &&
      Number.isInteger(head.height) &&
      /^[0-9a-f]{64}$/.test(head.block) &&
      Array.isArray(head.sections);
    if (!isWhole) throw this.corruption('its header is incomplete');
    return head;
  }

  private parse(payload: Buffer): unknown {
    try {
      return JSON.parse(payload.toString('utf8', 1));
    } catch {
      throw this.corruption('a description cannot be read');
    }
  }

  /** Creates the error of a corrupt file. `at` is the offset of the corrupt bytes; by default that of the last read. */
  corruption(what: string, at = this.at): SnapshotError {
    return new SnapshotError(
      `The snapshot ${this.path} is corrupt near byte ${at}: ${what}. Copy or download it again.`,
    );
  }

  /** Reads the next bytes of the file into `bytes`. */
  private fill(bytes: Buffer): Buffer {
    let got = 0;
    try {
      while (got < bytes.length) {
        const read = readSync(this.fd, bytes, got, bytes.length - got, this.at + got);
        if (read === 0) throw this.corruption('the file is truncated');
        got += read;
      }
    } catch (error) {
      throw readingError(error, this.path);
    }
    this.at += bytes.length;
    this.fileHash.update(bytes);
    return bytes;
  }

  private memoryFor(length: number): Buffer {
    const place = this.spare.findIndex((one) => one.length >= length);
    const [memory] = place < 0 ? [] : this.spare.splice(place, 1);
    return (memory ?? Buffer.allocUnsafeSlow(Math.max(length, USUAL_MEMORY_BYTES))).subarray(0, length);
  }

  /** Releases the buffer of a payload, so that the next pieces can use it. The payload must not be used afterwards. */
  release(payload: Buffer): void {
    if (this.spare.length < MOST_SPARE) this.spare.push(Buffer.from(payload.buffer));
  }

  private readPiece(): ReadPiece {
    const head = this.fill(Buffer.allocUnsafe(PIECE_HEAD_BYTES));
    const length = head.readUInt32LE(0);
    if (length === 0 || length > MAX_PIECE_BYTES) throw this.corruption('a chunk has an impossible length');
    const payload = this.fill(this.memoryFor(length));
    return { kind: payload[0]!, payload, checksum: head.subarray(4), end: this.at };
  }

  private verified(piece: ReadPiece): ReadPiece {
    if (hasChecksum(piece.payload, piece.checksum)) return piece;
    throw this.corruption('a checksum does not match', piece.end);
  }

  /** Yields the pieces of one kind, which must be the next pieces of the file. Their checksums are not verified. */
  *pieces(kind: number): Generator<ReadPiece> {
    for (;;) {
      this.next ??= this.readPiece();
      if (this.next.kind !== kind) {
        // The kind could be corrupt, too.
        this.verified(this.next);
        return;
      }
      const piece = this.next;
      this.next = null;
      let hash = this.partHashes.get(kind);
      if (hash === undefined) this.partHashes.set(kind, (hash = createHash('sha256')));
      hash.update(piece.payload);
      yield piece;
    }
  }

  /** The headers of a piece. Throws `SnapshotError` if it is corrupt. */
  headersOf(piece: ReadPiece): UnpackedHeader[] {
    try {
      return [...unpackHeaders(this.verified(piece).payload)];
    } catch (error) {
      throw this.named(error, piece);
    }
  }

  /** The rows of a piece. Rejects with `SnapshotError` if it is corrupt. */
  async rowsOf(piece: ReadPiece, isCoins: boolean, prefixes: readonly string[]): Promise<SnapshotRows> {
    try {
      return await unpackRecords(piece.payload, piece.checksum, isCoins, prefixes);
    } catch (error) {
      throw this.named(error, piece);
    }
  }

  /** Converts an error of unpacking into one that names the file. */
  private named(error: unknown, { end }: ReadPiece): unknown {
    return error instanceof ReadError ? this.corruption(error.message, end) : error;
  }

  /**
   * Reads the last piece, which must be the next one in the file. `rows` contains the expected number of rows of each
   * section. Returns the contents of the last piece and the hash of the file.
   */
  finish(rows: readonly { readonly name: string; readonly kind: number; readonly rows: number }[]): {
    parts: readonly SectionSummary[];
    hash: string;
  } {
    this.next = this.verified(this.next ?? this.readPiece());
    if (this.next.kind !== KIND.end) throw this.corruption('a chunk is out of order');
    const { parts } = (this.parse(this.next.payload) ?? {}) as Partial<SnapshotEnd>;
    const found = rows.map((part) => ({
      name: part.name,
      rows: part.rows,
      hash: (this.partHashes.get(part.kind) ?? createHash('sha256')).digest('hex'),
    }));
    if (!isDeepStrictEqual(found, parts)) throw this.corruption('its end record does not match its contents');
    if (readSync(this.fd, Buffer.alloc(1), 0, 1, this.at) > 0)
      throw this.corruption('there is data after its end');
    return { parts: found, hash: this.fileHash.digest('hex') };
  }
}
