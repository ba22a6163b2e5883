/**
 * Work on blobs that runs in worker threads: reading, checking, decrypting, encrypting and writing. All file access in this
 * module is synchronous, because each thread runs one job at a time.
 */
import { createHash, type Hash } from 'node:crypto';
import { type BigIntStats, closeSync, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { systemErrorCode, systemErrorReason, withPath } from '../../util/text/environmentError.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
import { Transferred } from '../../threads/protocol.js';
import { blobHashesOf, blobHashOf, MAX_BLOB_BYTES, PIECE_BYTES } from '../content/blobHash.js';
import { ChunkTable, chunkTableOf, type StoredChunkTable } from '../content/chunkTable.js';
import { BlobDigester, type BlobDigests } from '../content/incomingBlob.js';
import type { BlobCheckRow, OriginalRow } from '../content/rows.js';
import { decryptParts, encryptParts, encryptPiece } from './cipher.js';

/** Detects changes of a file: inode, size and times of the last changes. */
export type FileStamp = string;

/** Key and initialization vector for the decryption of a blob. */
export interface CipherKey {
  readonly key: Uint8Array;
  readonly iv: Uint8Array;
}

/** Position in a file that is open for writing. */
export interface CopyTarget {
  readonly fd: number;
  readonly position: number;
}

export type BlobRead =
  | { readonly kind: 'whole'; readonly bytes: Uint8Array; readonly length: number; readonly stamp: FileStamp }
  | { readonly kind: 'missing' }
  | { readonly kind: 'corrupt'; readonly reason: string };

export type BlobCheck =
  | {
      readonly kind: 'whole';
      readonly length: number;
      readonly stamp: FileStamp;
      /** A table of the blob's chunks, if the blob was verified by its hash. */
      readonly newTable: StoredChunkTable | null;
    }
  | Exclude<BlobRead, { readonly kind: 'whole' }>;

/** Result of making a blob from a piece of the published file. */
export type MadeBlob =
  | { readonly kind: 'whole'; readonly bytes: Uint8Array; readonly stamp: string }
  | { readonly kind: 'changed'; readonly stamp: string; readonly reason: string };

/** A blob that was made or received. */
export interface KnownBlob extends BlobDigests {
  /** Bytes. */
  readonly length: number;
}

export interface WrittenBlob extends KnownBlob {
  readonly stamp: FileStamp;
}

/** A blob in a file that still has a temporary name. */
export interface TemporaryBlob extends KnownBlob {
  /** Path. */
  readonly temporary: string;
}

/** Bytes that should have this hash. */
export interface UnverifiedBlob {
  readonly hash: string;
  readonly bytes: Uint8Array;
}

/** Suffix of the names of incomplete files. */
export const PARTIAL_SUFFIX = '.part';

/**
 * Maximum number of bytes of one write. For a larger write Linux takes memory in pieces of up to 2 MiB, which are often not
 * in the processor's cache, or not yet given to a virtual machine.
 */
export const WRITE_BYTES = 256 * 1024;

type StampedStats = Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>;

export const stampText = ({ ino, size, mtimeNs, ctimeNs }: StampedStats): FileStamp =>
  `${ino}/${size}/${mtimeNs}/${ctimeNs}`;

/**
 * Returns the chunk table of a check, if the check belongs to this file. A file that changed since the check is verified by
 * its hash before use.
 */
export const tableFor = (
  check: BlobCheckRow | null,
  stamp: FileStamp,
  blobBytes: number,
): ChunkTable | null => (check?.stamp === stamp ? ChunkTable.parse(check.table, blobBytes) : null);

/**
 * Returns the stamp by which changes of a published file are detected: its size and the time of its last modification. A
 * copy of the file with the same values may replace it.
 */
export const originalStamp = ({ size, mtimeNs }: Pick<BigIntStats, 'size' | 'mtimeNs'>): string =>
  `${size}/${mtimeNs}`;

/** Number of bytes in the piece of a file at a position. All pieces except the last one are full. */
export const pieceLength = (sizeBytes: number, position: number): number =>
  Math.max(0, Math.min(PIECE_BYTES, sizeBytes - position * PIECE_BYTES));

function stampOf(fd: number): { stamp: FileStamp; size: number } {
  const stats = fstatSync(fd, { bigint: true });
  return { stamp: stampText(stats), size: Number(stats.size) };
}

/** Reads up to `size` bytes into `bytes`, or into a new buffer that can be transferred to another thread. */
function readBytes(fd: number, size: number, from = 0, bytes: Uint8Array = new Uint8Array(size)): Uint8Array {
  let at = 0;
  while (at < size) {
    const count = readSync(fd, bytes, at, size - at, from + at);
    if (count === 0) break;
    at += count;
  }
  return bytes.subarray(0, at);
}

/** Maximum number of unused bytes in the buffer of a transferred result: the padding of the last AES block. */
const MAX_UNUSED_BYTES = 16;

/** Returns a copy of the bytes if their buffer also contains other data, so that only the bytes themselves are transferred. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.buffer.byteLength - bytes.byteLength <= MAX_UNUSED_BYTES ? bytes : Uint8Array.from(bytes);
}

function writeAll(fd: number, bytes: Uint8Array, position: number | null = null): void {
  for (let at = 0; at < bytes.length;)
    at += writeSync(fd, bytes, at, bytes.length - at, position === null ? null : position + at);
}

/** Writes a file under a temporary name, without syncing it. Removes the file if writing fails. */
function writeTemporary(path: string, parts: Iterable<Uint8Array>): void {
  try {
    const fd = openSync(path, 'wx');
    try {
      for (const bytes of parts) writeAll(fd, bytes);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    rmSync(path, { force: true });
    throw withPath(error, path);
  }
}

/** Encrypts a piece of a stream part by part, and computes the hash of the blob at the same time. */
class EncryptedParts implements Iterable<Buffer> {
  readonly #parts: Iterable<Buffer>;
  readonly #digester = new BlobDigester();
  #length = 0;

  constructor(piece: Uint8Array, key: Uint8Array, iv: Uint8Array) {
    this.#parts = encryptParts(piece, key, iv);
  }

  *[Symbol.iterator](): Generator<Buffer> {
    for (const part of this.#parts) {
      this.#digester.add(part);
      this.#length += part.length;
      yield part;
    }
  }

  /** Returns the blob's hash and length. Must be called after all parts were read. */
  end(): KnownBlob {
    return { ...this.#digester.end(), length: this.#length };
  }
}

export class BlobWork {
  readonly #hashes = new Map<number, Hash>();
  readonly #threadNumber: number;
  #written = 0;
  /** Buffer for blobs that are not transferred to another thread. */
  #scratch: Uint8Array | null = null;

  /** `threadNumber` makes the temporary names of each thread distinct. */
  constructor(threadNumber: number) {
    this.#threadNumber = threadNumber;
  }

  get #nextNumber(): string {
    return `${process.pid}-${this.#threadNumber}-${this.#written++}`;
  }

  /**
   * Reads a blob's file, verifies it, and writes the decrypted piece (the blob's part of the stream) into an open file. The
   * bytes are verified by the table of the last check, or by their hash if that is not possible, unless the file has the
   * stamp of an earlier check. `length` of the result is the size of the piece.
   */
  copyTo(
    path: string,
    hash: string,
    checkedStamp: FileStamp | null,
    lastCheck: BlobCheckRow | null,
    cipher: CipherKey,
    { fd, position }: CopyTarget,
  ): BlobCheck {
    const read = this.#read(path, hash, checkedStamp, lastCheck);
    if (read.kind !== 'whole') return read;
    let length = 0;
    for (const part of decryptParts(read.bytes, cipher.key, cipher.iv)) {
      writeAll(fd, part, position + length);
      length += part.length;
    }
    return { kind: 'whole', length, stamp: read.stamp, newTable: read.newTable };
  }

  /** Reads a blob file and verifies its hash. The returned bytes are valid only until the next read. */
  #read(
    path: string,
    hash: string,
    checkedStamp: FileStamp | null,
    lastCheck: BlobCheckRow | null,
  ):
    | (BlobRead & { readonly kind: 'whole'; readonly newTable: StoredChunkTable | null })
    | Exclude<BlobRead, { readonly kind: 'whole' }> {
    let fd: number;
    try {
      refuseSpecialFile(path);
      fd = openSync(path, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { kind: 'missing' };
      throw withPath(error, path);
    }
    try {
      const before = stampOf(fd);
      if (before.size === 0 || before.size > MAX_BLOB_BYTES)
        return { kind: 'corrupt', reason: `its file has ${before.size} bytes` };
      const bytes = readBytes(fd, before.size, 0, (this.#scratch ??= new Uint8Array(MAX_BLOB_BYTES)));
      const { stamp } = stampOf(fd);
      const isChecked = stamp === checkedStamp && stamp === before.stamp && bytes.length === before.size;
      const whole = { kind: 'whole', bytes, length: bytes.length, stamp, newTable: null } as const;
      if (isChecked || tableFor(lastCheck, stamp, bytes.length)?.matches(0, bytes)) return whole;
      if (blobHashOf(bytes) !== hash) return { kind: 'corrupt', reason: 'its bytes have another hash' };
      return { ...whole, newTable: chunkTableOf(bytes) };
    } catch (error) {
      // EIO may be a bad sector. It counts as corruption of this blob, so that other blobs are not affected.
      if ((error as NodeJS.ErrnoException).code === 'EIO')
        return { kind: 'corrupt', reason: 'the disk failed to read it' };
      throw withPath(error, path);
    } finally {
      closeSync(fd);
    }
  }

  /** Encrypts a piece of a file and writes the blob to a temporary file, which is not synced. */
  encrypt(folder: string, piece: Uint8Array, { key, iv }: CipherKey): TemporaryBlob {
    const temporary = join(folder, `${this.#nextNumber}${PARTIAL_SUFFIX}`);
    const blob = new EncryptedParts(piece, key, iv);
    writeTemporary(temporary, blob);
    return { ...blob.end(), temporary };
  }

  /** Verifies whole blobs by their hashes. Returns the table of each blob's chunks, or null if it has another hash. */
  verify(blobs: readonly UnverifiedBlob[]): (StoredChunkTable | null)[] {
    const hashes = blobHashesOf(blobs.map(({ bytes }) => bytes));
    return blobs.map(({ hash, bytes }, at) => (hashes[at] === hash ? chunkTableOf(bytes) : null));
  }

  /** Computes the hash and length of the blob for a piece of a stream, without writing the blob. */
  measure(piece: Uint8Array, { key, iv }: CipherKey): KnownBlob {
    const blob = new EncryptedParts(piece, key, iv);
    for (const _part of blob);
    return blob.end();
  }

  /**
   * Encrypts the piece of a published file from which a blob was once made. The result is `changed` if the blob now has
   * another hash or the file is unusable. `wants` selects the returned bytes: the blob, the piece or none.
   */
  make(
    original: Pick<OriginalRow, 'path' | 'sizeBytes'>,
    position: number,
    cipher: CipherKey,
    hash: string,
    wants: 'blob' | 'piece' | 'nothing',
  ): Transferred | MadeBlob {
    try {
      refuseSpecialFile(original.path);
      const fd = openSync(original.path, 'r');
      try {
        return this.#make(fd, original.sizeBytes, position, cipher, hash, wants);
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      const code = systemErrorCode(error);
      // The system lacks resources, so the error does not show that the file changed.
      if (code === null || ['EMFILE', 'ENFILE', 'ENOMEM'].includes(code))
        throw withPath(error, original.path);
      return { kind: 'changed', stamp: code, reason: systemErrorReason(code) };
    }
  }

  #make(
    fd: number,
    sizeBytes: number,
    position: number,
    { key, iv }: CipherKey,
    hash: string,
    wants: 'blob' | 'piece' | 'nothing',
  ): Transferred | MadeBlob {
    const piece = readBytes(fd, pieceLength(sizeBytes, position), position * PIECE_BYTES);
    const stats = fstatSync(fd, { bigint: true });
    const stamp = originalStamp(stats);
    const changed = (reason: string): MadeBlob => ({ kind: 'changed', stamp, reason });
    if (Number(stats.size) !== sizeBytes) return changed('it has another size');
    const blob = encryptPiece(piece, key, iv);
    if (blobHashOf(blob) !== hash) return changed('it has other bytes');
    if (wants === 'nothing') return { kind: 'whole', bytes: new Uint8Array(0), stamp };
    const bytes = ownBytes(wants === 'piece' ? piece : blob);
    return new Transferred({ kind: 'whole', bytes, stamp }, [bytes.buffer as ArrayBuffer]);
  }

  /** Adds a piece to the hash of a whole file. `id` identifies the file among those that are hashed. */
  hashPiece(id: number, piece: Uint8Array): void {
    const hash = this.#hashes.get(id) ?? createHash('sha384');
    this.#hashes.set(id, hash.update(piece));
  }

  /** Ends the hash of a whole file and returns the SHA-384 as hexadecimal digits. */
  endHash(id: number): string {
    const hash = this.#hashes.get(id) ?? createHash('sha384');
    this.#hashes.delete(id);
    return hash.digest('hex');
  }

  close(): void {
    this.#hashes.clear();
  }
}
