/**
 * Small bytes that stay for long, side by side in large pieces. Node's own pool for small buffers would keep alive whatever
 * was allocated next to each of them.
 */
import type { Bytes } from './bytes.js';

const SLAB_BYTES = 1 << 16;

export class Slab {
  private bytes = Buffer.alloc(0);
  private used = 0;

  /** A copy that is nobody else's. */
  keep(bytes: Bytes): Buffer {
    const copy = this.take(bytes.length);
    copy.set(bytes);
    return copy;
  }

  /** The same of two, the second behind the first. */
  keepBoth(first: Bytes, second: Bytes): Buffer {
    const copy = this.take(first.length + second.length);
    copy.set(first);
    copy.set(second, first.length);
    return copy;
  }

  private take(length: number): Buffer {
    if (this.used + length > this.bytes.length) {
      this.bytes = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, length));
      this.used = 0;
    }
    const taken = this.bytes.subarray(this.used, this.used + length);
    this.used += length;
    return taken;
  }
}
