/** A blob that is being received. Its hash is computed piece by piece, so the whole blob is not read again for it. */
import { createHash } from 'node:crypto';

/** Bytes and their hash as 96 hexadecimal digits. */
export interface HashedBlob {
  readonly bytes: Buffer;
  readonly hash: string;
}

/** Bytes of a blob whose hash the receiver may have computed already. */
export type BlobBytes = Uint8Array | HashedBlob;

export const bytesOf = (blob: BlobBytes): Uint8Array => (blob instanceof Uint8Array ? blob : blob.bytes);

export class IncomingBlob {
  readonly #bytes: Buffer;
  readonly #hash = createHash('sha384');
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
    this.#hash.update(taken);
    this.#bytes.set(taken, this.#count);
    this.#count += taken.length;
    return taken.length;
  }

  /** The received bytes. Must be called once. */
  end(): HashedBlob {
    return { bytes: this.#bytes.subarray(0, this.#count), hash: this.#hash.digest('hex') };
  }
}
