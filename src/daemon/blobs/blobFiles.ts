/**
 * Blob files, opened, checked and written without a thread of their own: file access and hashing run in the thread pool of
 * Node.js. The first blob therefore need not wait until a worker thread has started, and no memory is used for worker
 * threads.
 */
import { fstatSync, type BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { webcrypto } from 'node:crypto';
import { environmentError, systemErrorReason, withPath } from '../../util/text/environmentError.js';
import { TaskSlots } from '../../scheduler/taskSlots.js';
import { blobHashOf, MAX_BLOB_BYTES } from '../content/blobHash.js';
import { chunkTableOf, type ChunkTable, type StoredChunkTable } from '../content/chunkTable.js';
import type { BlobCheckRow } from '../content/rows.js';
import { canVerifyInPool, verifyInPool } from './blobDigests.js';
import { openBlobFile, type BlobFile } from './blobFile.js';
import { stampText, tableFor, type BlobRead, type FileStamp } from './blobWork.js';

/**
 * Maximum number of blobs that are hashed at the same time. Each hash takes 4 MiB of memory, since the thread pool works on
 * a copy. Arbitrary: bounds the memory.
 */
const HASHES_AT_ONCE = 2;
/**
 * Maximum size of data that is hashed on the caller's thread. For so few bytes a hash takes less time than a job of the
 * thread pool.
 */
const SMALL_BYTES = 16 * 1024;

/** Finds the result of the blob's verification in an earlier run; null if there is none. */
export type CheckOf = () => Promise<BlobCheckRow | null>;

/**
 * Result of a successful verification. The bytes match a stored table, an earlier check of the same file, or their hash; in
 * the last case a new table was computed.
 */
export interface Verified {
  readonly stamp: FileStamp;
  readonly by: 'table' | 'stamp' | 'hash';
  readonly newTable: StoredChunkTable | null;
}

/** An opened and checked blob file, which the caller must close; or the reason why there is none. */
export type OpenedBlob =
  | {
      readonly kind: 'whole';
      readonly file: BlobFile;
      readonly length: number;
      readonly verified: Verified;
      /** Hashes against which each chunk must be verified before it is used; null if the whole file has been verified. */
      readonly chunks: ChunkTable | null;
    }
  | Exclude<BlobRead, { readonly kind: 'whole' }>;

/** The verified bytes of a blob file, or the reason why there are none. */
export type ReadBlob =
  | { readonly kind: 'whole'; readonly bytes: Uint8Array; readonly verified: Verified }
  | Exclude<BlobRead, { readonly kind: 'whole' }>;

async function hashOf(bytes: Uint8Array): Promise<string> {
  if (bytes.length <= SMALL_BYTES) return blobHashOf(bytes);
  // Web Crypto does not accept shared memory.
  const own = bytes.buffer instanceof SharedArrayBuffer ? Uint8Array.from(bytes) : bytes;
  return Buffer.from(await webcrypto.subtle.digest('SHA-384', own)).toString('hex');
}

/** Whether the addon verifies these bytes in the thread pool. Web Crypto would copy the bytes on this thread first. */
const isForPool = (bytes: Uint8Array): boolean => bytes.length > SMALL_BYTES && canVerifyInPool();

/** Returns the table of a blob's chunks; null if the bytes have another hash. */
async function tableIfRight(hash: string, bytes: Uint8Array): Promise<StoredChunkTable | null> {
  if (isForPool(bytes)) return (await verifyInPool([{ hash, bytes }]))[0]!;
  return (await hashOf(bytes)) === hash ? chunkTableOf(bytes) : null;
}

/** Whether the bytes have the hash. Without the addon no table is computed on this thread. */
async function hasHash(hash: string, bytes: Uint8Array): Promise<boolean> {
  if (isForPool(bytes)) return (await tableIfRight(hash, bytes)) !== null;
  return (await hashOf(bytes)) === hash;
}

interface Stamped {
  readonly stamp: FileStamp;
  /** Bytes. */
  readonly size: number;
}

/** Stamp (size and times) and size of the file at the path. */
export const stampOf = async (path: string): Promise<Stamped> => stamped(await stat(path, { bigint: true }));

/** Stamp and size of an open file. Its attributes are in memory, so this takes less time than a job of the thread pool. */
const stampOfOpen = ({ fd }: BlobFile): Stamped => stamped(fstatSync(fd, { bigint: true }));

function stamped(found: BigIntStats): Stamped {
  if (!found.isFile() && !found.isDirectory())
    throw Object.assign(new Error(systemErrorReason('EFTYPE')), { code: 'EFTYPE' });
  return { stamp: stampText(found), size: Number(found.size) };
}

/** Reads up to `size` bytes. Returns the number of bytes read, which is smaller if the file is shorter. */
async function fill(file: BlobFile, bytes: Uint8Array, size: number): Promise<number> {
  let at = 0;
  while (at < size) {
    const count = await file.read(bytes.subarray(at), size - at, at);
    if (count === 0) break;
    at += count;
  }
  return at;
}

const corrupt = (reason: string) => ({ kind: 'corrupt', reason }) as const;

export class BlobFiles {
  readonly #hashing = new TaskSlots(HASHES_AT_ONCE);
  /** Buffers for reading files during checks, for reuse. */
  readonly #buffers: Uint8Array[] = [];

  /**
   * Opens a blob's file. If a table of its chunks is stored, the caller must verify the chunks that it reads. Otherwise the
   * whole file is hashed before the call returns, unless it has the stamp (size and times) of an earlier check. Throws
   * `EnvironmentError` if the system refuses access.
   */
  async open(
    path: string,
    hash: string,
    checkedStamp: FileStamp | null,
    checkOf: CheckOf,
  ): Promise<OpenedBlob> {
    let chunks: ChunkTable | null = null;
    const found = await this.#open(path, async (file, { stamp, size }) => {
      if (stamp === checkedStamp) return { stamp, by: 'stamp', newTable: null };
      chunks = tableFor(await checkOf(), stamp, size);
      if (chunks !== null) return { stamp, by: 'table', newTable: null };
      return (await this.#hashing.run(async () => {
        const buffer = this.#buffers.pop() ?? new Uint8Array(MAX_BLOB_BYTES);
        try {
          const bytes = buffer.subarray(0, await fill(file, buffer, size));
          return await this.#verifyHash(hash, bytes, stampOfOpen(file).stamp);
        } finally {
          this.#buffers.push(buffer);
        }
      }))!;
    });
    return found.kind === 'whole' ? { ...found, chunks } : found;
  }

  /** Reads a blob's whole file and verifies it. Otherwise like `open`. */
  async read(
    path: string,
    hash: string,
    checkedStamp: FileStamp | null,
    checkOf: CheckOf,
  ): Promise<ReadBlob> {
    let bytes = new Uint8Array(0);
    const found = await this.#open(path, async (file, { stamp, size }) => {
      const buffer = new Uint8Array(size);
      bytes = buffer.subarray(0, await fill(file, buffer, size));
      const after = stampOfOpen(file);
      if (stamp === checkedStamp && after.stamp === stamp && bytes.length === size)
        return { stamp, by: 'stamp', newTable: null };
      if (tableFor(await checkOf(), after.stamp, bytes.length)?.matches(0, bytes))
        return { stamp: after.stamp, by: 'table', newTable: null };
      return (await this.#hashing.run(() => this.#verifyHash(hash, bytes, after.stamp)))!;
    });
    if (found.kind !== 'whole') return found;
    await found.file.close();
    return { kind: 'whole', bytes, verified: found.verified };
  }

  /** Verifies the bytes by their hash. Returns null if the hash is wrong. */
  async #verifyHash(hash: string, bytes: Uint8Array, stamp: FileStamp): Promise<Verified | null> {
    const table = await tableIfRight(hash, bytes);
    return table === null ? null : { stamp, by: 'hash', newTable: table };
  }

  /** Opens a blob file and runs `check`, which returns how the bytes are verified, or null if they are wrong. */
  async #open(
    path: string,
    check: (file: BlobFile, before: Stamped) => Promise<Verified | null>,
  ): Promise<OpenedBlob> {
    let file: BlobFile | null = null;
    let isKept = false;
    try {
      file = await openBlobFile(path);
      const before = stampOfOpen(file);
      if (before.size === 0 || before.size > MAX_BLOB_BYTES)
        return corrupt(`its file has ${before.size} bytes`);
      const verified = await check(file, before);
      if (verified === null) return corrupt('its bytes have another hash');
      isKept = true;
      return { kind: 'whole', file, length: before.size, verified, chunks: null };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return { kind: 'missing' };
      // EIO may be a bad sector. It counts as corruption of this blob, so that other blobs are not affected.
      if (code === 'EIO') return corrupt('the disk failed to read it');
      throw environmentError(withPath(error, path), path);
    } finally {
      if (!isKept) await file?.close();
    }
  }

  /** Whether the bytes have the hash `hash`. */
  async isBlob(hash: string, bytes: Uint8Array): Promise<boolean> {
    if (bytes.length === 0 || bytes.length > MAX_BLOB_BYTES) return false;
    if (bytes.length <= SMALL_BYTES) return blobHashOf(bytes) === hash;
    return (await this.#hashing.run(() => hasHash(hash, bytes)))!;
  }
}
