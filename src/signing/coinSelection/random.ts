/** Random numbers for coin selection: fast, seeded by the operating system; tests pass others. They are not used for keys. */
import { randomBytes } from 'node:crypto';

export interface Chance {
  /** Returns true or false with equal probability. */
  flip(): boolean;
  /** Returns a random integer from 0 (inclusive) to `count` (exclusive). */
  below(count: number): number;
}

/** The random number generator xoshiro128** by Blackman and Vigna. */
export class FastChance implements Chance {
  private a: number;
  private b: number;
  private c: number;
  private d: number;
  private bits = 0;
  private left = 0;

  /** 16 bytes. */
  constructor(seed: Uint8Array = randomBytes(16)) {
    const view = new DataView(seed.buffer, seed.byteOffset, 16);
    this.a = view.getUint32(0);
    this.b = view.getUint32(4);
    this.c = view.getUint32(8);
    // Sets one bit, because the generator's state must not be all zeros.
    this.d = view.getUint32(12) | 1;
  }

  private next(): number {
    const product = Math.imul(this.b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const shifted = this.b << 9;
    this.c ^= this.a;
    this.d ^= this.b;
    this.b ^= this.c;
    this.a ^= this.d;
    this.c ^= shifted;
    this.d = (this.d << 11) | (this.d >>> 21);
    return result;
  }

  flip(): boolean {
    if (this.left === 0) {
      this.bits = this.next();
      this.left = 32;
    }
    const isHeads = (this.bits & 1) === 1;
    this.bits >>>= 1;
    this.left--;
    return isHeads;
  }

  below(count: number): number {
    // Random values at and above the last multiple of `count` are discarded, because they would make small results more
    // probable.
    const end = 0x1_0000_0000 - (0x1_0000_0000 % count);
    for (;;) {
      const value = this.next();
      if (value < end) return value % count;
    }
  }
}

/** Shuffles `items` in place. */
export function shuffle<T>(items: T[], chance: Chance): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const other = chance.below(i + 1);
    [items[i], items[other]] = [items[other]!, items[i]!];
  }
  return items;
}
