/**
 * Buffers for received blobs. They are reused, because new memory costs page faults and garbage collections. With the addon, a
 * buffer starts at a page, so that the system can write it to a file without a copy. Without the addon, it is shared memory, so
 * that worker threads can read it without a transfer.
 */
import { loadNative } from '../../native/binding.js';
import { MAX_BLOB_BYTES } from './blobHash.js';

/**
 * Maximum number of unused buffers. Arbitrary: a fast download uses up to this number, and new memory takes more time than a
 * blob's verification. Bounds the memory to 40 MiB, which `BlobThreads` releases when no blobs arrive.
 */
export const MAX_FREE = 20;

/** Creates a buffer of `MAX_BLOB_BYTES` zeros. */
export function newBlobBuffer(): Buffer {
  const memory = loadNative()?.blobMemory?.(MAX_BLOB_BYTES) ?? new SharedArrayBuffer(MAX_BLOB_BYTES);
  return Buffer.from(memory, 0, MAX_BLOB_BYTES);
}

export class BlobBuffers {
  #free: Buffer[] = [];

  /** Number of unused buffers. */
  get freeCount(): number {
    return this.#free.length;
  }

  /** Returns a buffer of `MAX_BLOB_BYTES` bytes with any content. A buffer that is not given back is garbage collected. */
  take(): Buffer {
    return this.#free.pop() ?? newBlobBuffer();
  }

  /** Adds a buffer to the unused ones. No other code may use it. */
  giveBack(buffer: Buffer): void {
    if (this.#free.length < MAX_FREE) this.#free.push(buffer);
  }

  /** Releases the unused memory. */
  clear(): void {
    this.#free = [];
  }
}

/** The buffers of this thread. */
export const blobBuffers = new BlobBuffers();
