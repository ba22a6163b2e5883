/** A blob that is being received. Its hash is computed piece by piece, so the whole blob is not read again for it. */
import { createHash } from 'node:crypto';
import { chunkTableOf, ChunkTableMaker, type StoredChunkTable } from './chunkTable.js';

/** The hash of a blob as 96 hexadecimal digits, and its table of chunks. */
export interface BlobDigests {
  readonly hash: string;
  readonly table: StoredChunkTable;
}

/** Bytes of a blob and what was computed of them. */
export interface HashedBlob extends BlobDigests {
  readonly bytes: Buffer;
}

/** Bytes of a blob whose hash the receiver may have computed already. */
export type BlobBytes = Uint8Array | HashedBlob;

export const bytesOf = (blob: BlobBytes): Uint8Array => (blob instanceof Uint8Array ? blob : blob.bytes);

/** The stored table, or a new one. */
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

  /** The blob has at most `maxBytes`, at most `MAX_BLOB_BYTES`. */
  constructor(maxBytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(maxBytes);
  }

  /** Number of received bytes. */
  get count(): number {
    return this.#count;
  }

  /** Whether no more bytes fit. */
  get isFull(): boolean {
    return this.#count === this.#bytes.length;
  }

  /** Copies bytes until the blob is full. Returns their number. */
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

/** The bytes as if they had been received. */
export function receivedBlob(bytes: Uint8Array): HashedBlob {
  const blob = new IncomingBlob(bytes.length);
  blob.add(bytes);
  return blob.end();
}
