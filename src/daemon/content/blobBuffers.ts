/**
 * Buffers for received blobs. They are reused, because new memory costs page faults and garbage collections. A buffer starts at a page, so
 * that the system can write it to a file without a copy, and is shared memory, so that threads can read it without a transfer.
 */
import { loadNative } from '../../native/binding.js';
import { MAX_BLOB_BYTES } from './blobHash.js';

const PAGE_BYTES = 4096;
/**
 * Maximum number of unused buffers. Arbitrary: a fast download uses up to this number, and new memory takes more time than a
 * blob's verification. Bounds the memory to 40 MiB, which `BlobThreads` releases when no blobs arrive.
 */
export const MAX_FREE = 20;

export class BlobBuffers {
  #free: Buffer[] = [];

  /** Number of unused buffers. */
  get freeCount(): number {
    return this.#free.length;
  }

  /** Returns a buffer of `MAX_BLOB_BYTES` bytes with any content. A buffer that is not given back is garbage collected. */
  take(): Buffer {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const memory = new SharedArrayBuffer(MAX_BLOB_BYTES + PAGE_BYTES);
    const start = loadNative()?.bytesToPage?.(new Uint8Array(memory)) ?? 0;
    return Buffer.from(memory, start, MAX_BLOB_BYTES);
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
