/**
 * Buffer pool for the pieces of blobs that are being sent. Buffers are reused. Pieces get smaller as the number of transfers
 * grows.
 */

/**
 * Maximum and minimum size of a piece in bytes. Two pieces of the maximum size stay in the cache of a processor core.
 * Arbitrary.
 */
const MAX_PIECE_BYTES = 128 * 1024;
const MIN_PIECE_BYTES = 16 * 1024;
/** Maximum memory in bytes for the buffers of all transfers. Above it, smaller pieces are used. Arbitrary. */
const BUDGET_BYTES = 1024 * 1024;
/** Maximum number of bytes of unused buffers in the pool. Arbitrary. */
const KEPT_BYTES = 1024 * 1024;

export class PieceBuffers {
  readonly #free = new Map<number, Uint8Array[]>();
  #keptBytes = 0;

  /** Number of bytes of unused buffers. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  /** Size of a piece in bytes, a power of two, for this number of transfers. Each transfer has at most two pieces in memory. */
  static pieceBytes(transfers: number): number {
    let bytes = MAX_PIECE_BYTES;
    while (bytes > MIN_PIECE_BYTES && bytes * 2 * transfers > BUDGET_BYTES) bytes /= 2;
    return bytes;
  }

  take(bytes: number): Uint8Array {
    const free = this.#free.get(bytes)?.pop();
    if (free === undefined) return new Uint8Array(bytes);
    this.#keptBytes -= bytes;
    return free;
  }

  /** Returns an unused buffer to the pool. If the pool is full, the buffer replaces buffers of other sizes, which are not used any more. */
  giveBack(buffer: Uint8Array): void {
    const bytes = buffer.length;
    for (const [other, free] of this.#free)
      while (other !== bytes && free.length > 0 && this.#keptBytes + bytes > KEPT_BYTES) {
        free.pop();
        this.#keptBytes -= other;
      }
    if (this.#keptBytes + bytes > KEPT_BYTES) return;
    this.#keptBytes += bytes;
    const free = this.#free.get(bytes);
    if (free) free.push(buffer);
    else this.#free.set(bytes, [buffer]);
  }
}
