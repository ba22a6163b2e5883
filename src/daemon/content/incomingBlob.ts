/** A blob that is being received, and the digests by which blobs are verified. */
import { createHash } from 'node:crypto';
import { ChunkTableMaker, type StoredChunkTable } from './chunkTable.js';

/** The hash of a blob as 96 hexadecimal digits, and its table of chunks. */
export interface BlobDigests {
  readonly hash: string;
  readonly table: StoredChunkTable;
}

/**
 * Received bytes, whose hash was not compared yet. While a thread stores them, their memory belongs to the thread; `bytes` is
 * replaced when the memory comes back.
 */
export interface ReceivedBlob {
  bytes: Buffer;
}

/** Bytes of a blob. The buffer of a `ReceivedBlob` may be transferred to another thread. */
export type BlobBytes = Uint8Array | ReceivedBlob;

export const bytesOf = (blob: BlobBytes): Uint8Array => (blob instanceof Uint8Array ? blob : blob.bytes);

/** Computes hash and table of a blob whose bytes come in order in pieces of any size. */
export class BlobDigester {
  readonly #hash = createHash('sha384');
  readonly #table = new ChunkTableMaker();

  add(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#table.add(bytes);
  }

  /** Must be called once. */
  end(): BlobDigests {
    return { hash: this.#hash.digest('hex'), table: this.#table.end() };
  }
}

export class IncomingBlob {
  readonly #bytes: Buffer;
  #count = 0;

  /** Prepares for a blob of at most `maxBytes`. `maxBytes` is at most `MAX_BLOB_BYTES`. */
  constructor(maxBytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(maxBytes);
  }

  /** Number of bytes received so far. */
  get count(): number {
    return this.#count;
  }

  /** Whether the buffer of the blob is full. */
  get isFull(): boolean {
    return this.#count === this.#bytes.length;
  }

  /** The unused part of the blob's buffer. Bytes that are written to its start need not be copied by `add`. */
  get unused(): Buffer {
    return this.#bytes.subarray(this.#count);
  }

  /**
   * Copies bytes to the buffer until the blob is full, unless they are already the start of `unused`. Returns the number of
   * bytes that belong to the blob.
   */
  add(bytes: Uint8Array): number {
    const taken = bytes.subarray(0, this.#bytes.length - this.#count);
    if (taken.buffer !== this.#bytes.buffer) this.#bytes.set(taken, this.#count);
    this.#count += taken.length;
    return taken.length;
  }

  /** The received bytes. Must be called once. */
  end(): ReceivedBlob {
    return { bytes: this.#bytes.subarray(0, this.#count) };
  }
}

/** Creates a `ReceivedBlob` from complete bytes, as if they had been received. */
export function receivedBlob(bytes: Uint8Array): ReceivedBlob {
  const blob = new IncomingBlob(bytes.length);
  blob.add(bytes);
  return blob.end();
}
