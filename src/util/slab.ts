/**
 * Storage for small, long-lived byte strings, packed into large buffers. In Node's own pool each small buffer would keep
 * alive all buffers in the same pool block.
 */
import type { Bytes } from './bytes.js';

const SLAB_BYTES = 1 << 16;

export class Slab {
  private bytes = Buffer.alloc(0);
  private used = 0;
  private totalBytes = 0;
  private usedBytes = 0;
  private pieceCount = 0;
  private keptCount = 0;

  /** Memory usage: allocated bytes, used bytes, number of large buffers, and number of stored byte strings. */
  get usage(): { totalBytes: number; usedBytes: number; pieces: number; kept: number } {
    const { totalBytes, usedBytes, pieceCount, keptCount } = this;
    return { totalBytes, usedBytes, pieces: pieceCount, kept: keptCount };
  }

  /** The large buffer that contains the last stored strings. Positions that `put` returns refer to it. */
  get piece(): Buffer {
    return this.bytes;
  }

  /** Stores a copy of `bytes`. Returns the copy. */
  keep(bytes: Bytes): Buffer {
    const at = this.take(bytes.length);
    this.bytes.set(bytes, at);
    return this.bytes.subarray(at, at + bytes.length);
  }

  /** Stores copies of two byte strings, the second directly after the first. Returns their position in `piece`. */
  put(first: Bytes, second: Bytes): number {
    const at = this.take(first.length + second.length);
    this.bytes.set(first, at);
    this.bytes.set(second, at + first.length);
    return at;
  }

  private take(length: number): number {
    if (this.used + length > this.bytes.length) {
      this.bytes = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, length));
      this.used = 0;
      this.totalBytes += this.bytes.length;
      this.pieceCount++;
    }
    const at = this.used;
    this.used += length;
    this.usedBytes += length;
    this.keptCount++;
    return at;
  }
}
