/** Random numbers from a seed. The sequence is the same on every machine. */
import { sha256 } from '../../crypto/hash.js';

/** The random number generator sfc32, which has a small state. Source: Chris Doty-Humphrey. */
export class Draw {
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;

  constructor(seed: string) {
    const state = sha256(Buffer.from(seed));
    this.a = state.readInt32LE(0);
    this.b = state.readInt32LE(4);
    this.c = state.readInt32LE(8);
    for (let i = 0; i < 12; i++) this.u32();
  }

  /** Returns a random integer from 0 to 2^32 - 1. */
  u32(): number {
    const sum = (((this.a + this.b) | 0) + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** Returns a random integer from 0 to `limit` - 1. */
  below(limit: number): number {
    return Math.floor((this.u32() / 2 ** 32) * limit);
  }

  oneIn(count: number): boolean {
    return this.below(count) === 0;
  }

  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  /** Selects one of the values at random. The number with each value is its probability in thousandths. */
  share<T>(shares: readonly (readonly [T, number])[]): T {
    let left = this.below(1000);
    for (const [value, share] of shares) {
      left -= share;
      if (left < 0) return value;
    }
    return shares[0]![0];
  }

  /** Returns a geometrically distributed random number, from 0 on, with the given mean. */
  geometric(mean: number): number {
    if (mean <= 0) return 0;
    const uniform = (this.u32() + 1) / 2 ** 32;
    return Math.floor(Math.log(uniform) / Math.log(mean / (1 + mean)));
  }

  fill(bytes: Buffer, from = 0, to = bytes.length): void {
    for (let at = from; at < to; at += 4) {
      const word = this.u32();
      for (let i = 0; i < 4 && at + i < to; i++) bytes[at + i] = (word >>> (8 * i)) & 0xff;
    }
  }
}
