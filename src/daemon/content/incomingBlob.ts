/** A blob that is being received. Its hash is computed while the bytes arrive, so the blob need not be read a second time. */
import { createHash } from 'node:crypto';
import { chunkTableOf, ChunkTableMaker, type StoredChunkTable } from './chunkTable.js';

/** The hash of a blob as 96 hexadecimal digits, and its table of chunks. */
export interface BlobDigests {
  readonly hash: string;
  readonly table: StoredChunkTable;
}

/** Bytes of a blob, with the hash and the table that were computed from them. */
export interface HashedBlob extends BlobDigests {
  readonly bytes: Buffer;
}

/** Bytes of a blob whose hash the receiver may have computed already. */
export type BlobBytes = Uint8Array | HashedBlob;

export const bytesOf = (blob: BlobBytes): Uint8Array => (blob instanceof Uint8Array ? blob : blob.bytes);

/** Returns the stored chunk table of a blob, or computes a new one. */
export const tableOf = (blob: BlobBytes): StoredChunkTable =>
  blob instanceof Uint8Array ? chunkTableOf(blob) : blob.table;

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
  readonly #digester = new BlobDigester();
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

  /** Copies bytes to the buffer until the blob is full. Returns the number of copied bytes. */
  add(bytes: Uint8Array): number {
    const taken = bytes.subarray(0, this.#bytes.length - this.#count);
    this.#digester.add(taken);
    this.#bytes.set(taken, this.#count);
    this.#count += taken.length;
    return taken.length;
  }

  /** The received bytes. Must be called once. */
  end(): HashedBlob {
    return { bytes: this.#bytes.subarray(0, this.#count), ...this.#digester.end() };
  }
}

/** Creates a `HashedBlob` from complete bytes, as if they had been received. */
export function receivedBlob(bytes: Uint8Array): HashedBlob {
  const blob = new IncomingBlob(bytes.length);
  blob.add(bytes);
  return blob.end();
}
