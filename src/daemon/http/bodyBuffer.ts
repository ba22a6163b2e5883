/**
 * A buffer that the bodies of large answers share. Otherwise the kernel would map and zero new memory for each body, and free
 * it after the answer was sent.
 */
import type { ServerResponse } from 'node:http';

/** Sizes of the bodies that use the buffer, in bytes. Node.js takes memory for smaller bodies from its own pool. */
const MIN_BODY_BYTES = 1 << 14;
const MAX_BODY_BYTES = 1 << 20;
/** Time after the last answer until the memory of the buffer is freed. */
const KEPT_MS = 5000;

export class BodyBuffer {
  #buffer = Buffer.alloc(0);
  /** Whether an answer is being sent from the buffer. */
  #isUsed = false;
  #timer: NodeJS.Timeout | null = null;

  /**
   * Sends a body of ASCII characters in pieces and ends the response. Each caller may send at any time: while the buffer is used,
   * other bodies get memory of their own.
   */
  send(response: ServerResponse, pieces: readonly string[]): void {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (this.#isUsed || response.destroyed || length < MIN_BODY_BYTES || length > MAX_BODY_BYTES) {
      response.end(pieces.join(''), 'latin1');
      return;
    }
    if (this.#buffer.length < length) this.#buffer = Buffer.allocUnsafeSlow(roundedUp(length));
    let at = 0;
    for (const piece of pieces) at += this.#buffer.write(piece, at, 'latin1');
    this.#isUsed = true;
    // Node.js emits `close` after the last byte was sent, or when the connection ends.
    response.once('close', () => this.#release());
    response.end(this.#buffer.subarray(0, length));
  }

  #release(): void {
    this.#isUsed = false;
    if (this.#timer !== null) this.#timer.refresh();
    else this.#timer = setTimeout(() => this.#free(), KEPT_MS).unref();
  }

  #free(): void {
    this.#timer = null;
    if (!this.#isUsed) this.#buffer = Buffer.alloc(0);
  }
}

/** The next power of two. */
const roundedUp = (bytes: number): number => 2 ** Math.ceil(Math.log2(bytes));
