/** Reads a file piece by piece and encrypts the pieces into blobs: by the addon in the thread pool, or by worker threads. */
import type { FileHandle } from 'node:fs/promises';
import { TaskSlots } from '../../scheduler/taskSlots.js';
import { blobBuffers } from '../content/blobBuffers.js';
import { PIECE_BYTES } from '../content/blobHash.js';
import { PooledDigest } from './blobMaking.js';
import type { BlobStore } from './blobStore.js';
import type { EncryptedBlob } from './blobStorePorts.js';
import type { BlobThreads, FileHash } from './blobThreads.js';

/** Number of pieces that are encrypted together. The addon takes at most four. More of them need more memory. */
const PIECES_TOGETHER = 4;
/**
 * Maximum number of groups of `PIECES_TOGETHER` pieces in memory: one is read, one or two are encrypted, and others are written.
 * Arbitrary: bounds the memory to 32 MiB.
 */
const MAX_GROUPS = 4;
/** Maximum number of groups that are encrypted at the same time. The thread pool has four threads. */
const ENCRYPTED_AT_ONCE = 2;
/** Maximum number of blobs that threads wrote and that are not yet on disk. Arbitrary: more than a disk writes at the same time. */
const MAX_UNKEPT = 32;

/** A piece of a file that was read. */
export interface FilePiece {
  readonly buffer: Uint8Array;
  /** Number of bytes of the piece. They are at the start of the buffer. */
  readonly size: number;
}

export interface PieceMaker {
  /**
   * Reads the next pieces of the file, at most the number for `remainingBytes`. Waits while the limit of memory is reached. An empty
   * result means the end of the file. All pieces except the last one of the file are full. The caller must pass the pieces to
   * `encrypt` or `drop`.
   */
  read(position: number, remainingBytes: number): Promise<readonly FilePiece[]>;
  /** Encrypts the pieces that one call of `read` returned. `ivs` has one initialization vector for each piece. */
  encrypt(
    pieces: readonly FilePiece[],
    key: Uint8Array,
    ivs: readonly Uint8Array[],
  ): Promise<readonly EncryptedBlob[]>;
  /** Releases the memory of pieces that are not encrypted. */
  drop(pieces: readonly FilePiece[]): void;
  /** Returns the SHA-384 of the bytes read, as hexadecimal digits. Must be called once, also after a failure. */
  end(): Promise<string>;
}

export interface PieceMakerOptions {
  readonly file: FileHandle;
  readonly store: Pick<BlobStore, 'encrypt' | 'keepMade'>;
  readonly threads: BlobThreads;
  /** Whether the blobs are written. Otherwise only their hashes are computed. */
  readonly keeps: boolean;
}

export const pieceMaker = (options: PieceMakerOptions): PieceMaker =>
  options.threads.makesInPool ? new PooledMaker(options) : new ThreadedMaker(options);

/** Counting semaphore. */
class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async acquire(): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}

class PooledMaker implements PieceMaker {
  readonly #options: PieceMakerOptions;
  readonly #digest = new PooledDigest();
  readonly #groups = new Semaphore(MAX_GROUPS);
  readonly #encrypting = new TaskSlots(ENCRYPTED_AT_ONCE);

  constructor(options: PieceMakerOptions) {
    this.#options = options;
  }

  async read(position: number, remainingBytes: number): Promise<readonly FilePiece[]> {
    await this.#groups.acquire();
    const count = Math.min(PIECES_TOGETHER, Math.max(1, Math.ceil(remainingBytes / PIECE_BYTES)));
    const buffers = Array.from({ length: count }, () => blobBuffers.take());
    let bytes = 0;
    try {
      bytes = await this.#digest.read(this.#options.file.fd, position, buffers);
    } finally {
      const used = Math.ceil(bytes / PIECE_BYTES);
      for (const buffer of buffers.slice(used)) blobBuffers.giveBack(buffer);
      if (used === 0) this.#groups.release();
    }
    return buffers
      .slice(0, Math.ceil(bytes / PIECE_BYTES))
      .map((buffer, at) => ({ buffer, size: Math.min(PIECE_BYTES, bytes - at * PIECE_BYTES) }));
  }

  async encrypt(
    pieces: readonly FilePiece[],
    key: Uint8Array,
    ivs: readonly Uint8Array[],
  ): Promise<readonly EncryptedBlob[]> {
    const { store, threads, keeps } = this.#options;
    let left = pieces.length;
    const release = (buffer: Uint8Array): void => {
      blobBuffers.giveBack(buffer as Buffer);
      if (--left === 0) this.#groups.release();
    };
    try {
      const toMake = pieces.map((piece, at) => ({ ...piece, iv: ivs[at]! }));
      const made = (await this.#encrypting.run(() => threads.makeInPool(toMake, key)))!;
      return made.map((blob, at) => {
        const { buffer } = pieces[at]!;
        const { hash, length } = blob;
        const bytes = buffer.subarray(0, length);
        if (!keeps) {
          release(buffer);
          return { hash, length, kept: Promise.resolve() };
        }
        return { hash, length, kept: store.keepMade(blob, bytes, () => release(buffer)) };
      });
    } catch (error) {
      this.drop(pieces);
      throw error;
    }
  }

  drop(pieces: readonly FilePiece[]): void {
    for (const { buffer } of pieces) blobBuffers.giveBack(buffer as Buffer);
    this.#groups.release();
  }

  async end(): Promise<string> {
    return this.#digest.end();
  }
}

/** Reads until the piece is full or the file ends. Returns the number of bytes read. */
async function fill(file: FileHandle, piece: Uint8Array, offset: number): Promise<number> {
  let at = 0;
  while (at < piece.length) {
    const { bytesRead } = await file.read(piece, at, piece.length - at, offset + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return at;
}

class ThreadedMaker implements PieceMaker {
  readonly #options: PieceMakerOptions;
  readonly #hash: FileHash;
  /** Buffers for pieces. Pieces are read ahead while buffers are free. */
  readonly #buffers: Semaphore;
  readonly #free: Uint8Array[] = [];
  readonly #unkept = new Semaphore(MAX_UNKEPT);

  constructor(options: PieceMakerOptions) {
    this.#options = options;
    this.#hash = options.threads.hashFile();
    this.#buffers = new Semaphore(options.threads.limit + 1);
  }

  async read(position: number): Promise<readonly FilePiece[]> {
    // Reading pauses while `MAX_UNKEPT` blobs are not yet on disk.
    await this.#unkept.acquire();
    await this.#buffers.acquire();
    const buffer = this.#free.pop() ?? new Uint8Array(new SharedArrayBuffer(PIECE_BYTES));
    let size = 0;
    try {
      size = await fill(this.#options.file, buffer, position);
    } finally {
      if (size === 0) this.#release(buffer);
    }
    return size === 0 ? [] : [{ buffer, size }];
  }

  #giveBack(buffer: Uint8Array): void {
    this.#free.push(buffer);
    this.#buffers.release();
  }

  #release(buffer: Uint8Array): void {
    this.#giveBack(buffer);
    this.#unkept.release();
  }

  /** Encrypts a piece. Its buffer is reused when no thread needs it any more. */
  async encrypt(
    [piece]: readonly FilePiece[],
    key: Uint8Array,
    [iv]: readonly Uint8Array[],
  ): Promise<readonly EncryptedBlob[]> {
    const { store, threads, keeps } = this.#options;
    const { buffer, size } = piece!;
    const bytes = buffer.subarray(0, size);
    let kept: Promise<void> = Promise.resolve();
    try {
      const encrypted = keeps
        ? store.encrypt(bytes, { key, iv: iv! })
        : threads.measure(bytes, { key, iv: iv! }).then((blob) => ({ ...blob, kept }));
      const [blob] = await Promise.all([encrypted, this.#hash.add(bytes)]);
      ({ kept } = blob);
      return [blob];
    } finally {
      this.#giveBack(buffer);
      kept.catch(() => undefined).finally(() => this.#unkept.release());
    }
  }

  drop(pieces: readonly FilePiece[]): void {
    for (const { buffer } of pieces) this.#release(buffer);
  }

  end(): Promise<string> {
    return this.#hash.end();
  }
}
