/** A blob that is being received, and the digests by which blobs are verified. */
import { createHash } from 'node:crypto';
import { blobBuffers } from './blobBuffers.js';
import { ChunkTableMaker, type StoredChunkTable } from './chunkTable.js';

/** The hash of a blob as 96 hexadecimal digits, and its table of chunks. */
export interface BlobDigests {
  readonly hash: string;
  readonly table: StoredChunkTable;
}

/** Minimum size of a blob that is received into a buffer of the pool. Arbitrary: smaller blobs are cheap and rare. */
const POOLED_BYTES = 64 * 1024;

/**
 * Received bytes, whose hash was not compared yet. Their buffer returns to the pool when every user has released the blob.
 * A user that keeps the bytes beyond that calls `keep`. The creator is the first user.
 */
export class ReceivedBlob {
  readonly bytes: Buffer;
  #pooled: Buffer | null;
  #users = 1;

  /** `pooled`: the buffer of the pool that contains the bytes; null if the pool does not own their memory. */
  constructor(bytes: Buffer, pooled: Buffer | null) {
    this.bytes = bytes;
    this.#pooled = pooled;
  }

  /** Adds a user. */
  use(): void {
    this.#users++;
  }

  /** Removes a user, which must not read the bytes any more. */
  release(): void {
    if (--this.#users > 0 || this.#pooled === null) return;
    blobBuffers.giveBack(this.#pooled);
    this.#pooled = null;
  }

  /** Returns the bytes for unlimited use. Their memory then never returns to the pool. */
  keep(): Buffer {
    this.#pooled = null;
    return this.bytes;
  }
}

/** Bytes of a blob. */
export type BlobBytes = Uint8Array | ReceivedBlob;

/** The bytes, which for a `ReceivedBlob` are valid until the caller releases it. */
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
  readonly #pooled: Buffer | null;
  #count = 0;

  /** Prepares for a blob of at most `maxBytes`. `maxBytes` is at most `MAX_BLOB_BYTES`. */
  constructor(maxBytes: number) {
    this.#pooled = maxBytes < POOLED_BYTES ? null : blobBuffers.take();
    this.#bytes = this.#pooled?.subarray(0, maxBytes) ?? Buffer.allocUnsafeSlow(maxBytes);
  }

  /** Number of bytes received so far. */
  get count(): number {
    return this.#count;
  }

  /** Number of bytes that have not arrived yet. */
  get missing(): number {
    return this.#bytes.length - this.#count;
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
    return new ReceivedBlob(this.#bytes.subarray(0, this.#count), this.#pooled);
  }
}

/** Creates a `ReceivedBlob` from complete bytes, as if they had been received. */
export function receivedBlob(bytes: Uint8Array): ReceivedBlob {
  const blob = new IncomingBlob(bytes.length);
  blob.add(bytes);
  return blob.end();
}
