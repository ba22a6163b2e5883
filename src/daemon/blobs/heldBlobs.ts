/** Downloaded blobs that are not written to disk. A limited number of them stays in memory until a reader takes them. */

/** Maximum number of blobs held in memory. Arbitrary: 32 MiB, enough for a few readers with their read-ahead. */
const MAX_BLOBS = 16;

export class HeldBlobs {
  /** Held blobs by hash, the oldest first. Their bytes were verified against the hash. */
  readonly #blobs = new Map<string, Uint8Array>();

  get size(): number {
    return this.#blobs.size;
  }

  /** Adds a blob. Removes the oldest blob if there are too many. */
  put(hash: string, bytes: Uint8Array): void {
    this.#blobs.delete(hash);
    this.#blobs.set(hash, bytes);
    const [oldest] = this.#blobs.keys();
    if (this.#blobs.size > MAX_BLOBS) this.#blobs.delete(oldest!);
  }

  get(hash: string): Uint8Array | null {
    return this.#blobs.get(hash) ?? null;
  }

  delete(hash: string): void {
    this.#blobs.delete(hash);
  }
}
