/**
 * Storage for small, long-lived byte strings, packed into large buffers. Node's own pool for small buffers would keep alive
 * everything allocated beside each of them.
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

  /** The memory allocated, and the part in use. */
  get usage(): { totalBytes: number; usedBytes: number; pieces: number; kept: number } {
    const { totalBytes, usedBytes, pieceCount, keptCount } = this;
    return { totalBytes, usedBytes, pieces: pieceCount, kept: keptCount };
  }

  /** The buffer that contains the latest copy. */
  get piece(): Buffer {
    return this.bytes;
  }

  /** Returns a copy in the slab's memory. */
  keep(bytes: Bytes): Buffer {
    const at = this.take(bytes.length);
    this.bytes.set(bytes, at);
    return this.bytes.subarray(at, at + bytes.length);
  }

  /** Copies two byte strings, the second directly after the first; returns their position in `piece`. */
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
