/**
 * Memory for the pieces of blobs that are being sent: it is used again instead of allocated for each piece, and pieces are smaller
 * the more transfers there are.
 */

/** The most and the least bytes of a piece. Arbitrary. */
const MAX_PIECE_BYTES = 512 * 1024;
const MIN_PIECE_BYTES = 64 * 1024;
/** Memory for all transfers, beyond which pieces become smaller. Arbitrary. */
const BUDGET_BYTES = 8 * 1024 * 1024;
/** Memory kept for reuse. Arbitrary. */
const KEPT_BYTES = 4 * 1024 * 1024;

export class PieceBuffers {
  readonly #free = new Map<number, Uint8Array[]>();
  #keptBytes = 0;

  /** Bytes of a piece while there are this many transfers, each with two of them: a power of two. */
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

  /** Returns unused buffers. */
  giveBack(buffer: Uint8Array): void {
    const bytes = buffer.length;
    if (this.#keptBytes + bytes > KEPT_BYTES) return;
    this.#keptBytes += bytes;
    const free = this.#free.get(bytes);
    if (free) free.push(buffer);
    else this.#free.set(bytes, [buffer]);
  }
}
