/** Downloaded blobs that are not written to disk. A limited number of them stays in memory until a reader takes them. */

import type { BlobBytes } from '../../content/incomingBlob.js';

/** Maximum number of blobs held in memory. Arbitrary: 32 MiB, enough for a few readers with their read-ahead. */
const MAX_BLOBS = 16;

export class HeldBlobs {
  /** Held blobs by hash, the oldest first. Their bytes were verified against the hash. */
  readonly #blobs = new Map<string, BlobBytes>();

  get size(): number {
    return this.#blobs.size;
  }

  /** Adds a blob, and is a user of it until it is removed. Removes the oldest blob if there are too many. */
  put(hash: string, blob: BlobBytes): void {
    this.delete(hash);
    if (!(blob instanceof Uint8Array)) blob.use();
    this.#blobs.set(hash, blob);
    const [oldest] = this.#blobs.keys();
    if (this.#blobs.size > MAX_BLOBS) this.delete(oldest!);
  }

  /** Returns the bytes of a held blob, which stay valid. */
  get(hash: string): Uint8Array | null {
    const blob = this.#blobs.get(hash) ?? null;
    return blob === null || blob instanceof Uint8Array ? blob : blob.keep();
  }

  delete(hash: string): void {
    const blob = this.#blobs.get(hash);
    this.#blobs.delete(hash);
    if (blob !== undefined && !(blob instanceof Uint8Array)) blob.release();
  }
}
