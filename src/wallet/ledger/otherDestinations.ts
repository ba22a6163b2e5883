/**
 * Where the wallet's transactions pay to without the wallet being able to spend it: destinations of others and watched ones, each
 * by the first four bytes of its hash. When a key or script comes, this set says whether known transactions may pay to it. It may
 * hold more than there is (removed transactions, equal beginnings of hashes): that costs time and changes no answer.
 */
import type { Bytes } from '../../util/bytes.js';

const FIRST_SLOTS = 64;

/** The first four bytes of a hash; never 0, which marks an empty slot. */
function mark(hash: Bytes): number {
  return (hash[0]! | (hash[1]! << 8) | (hash[2]! << 16) | (hash[3]! << 24)) >>> 0 || 1;
}

export class OtherDestinations {
  /** A hash table with open addressing, at most half full. */
  private slots: Uint32Array = new Uint32Array(FIRST_SLOTS);
  private count = 0;

  /** The marks as they lie, and how many there are, for `fill`. */
  get words(): Uint32Array {
    return this.slots;
  }

  get size(): number {
    return this.count;
  }

  /** Begins with marks that it takes over. */
  fill(words: Uint32Array, count: number): void {
    this.slots = words;
    this.count = count;
  }

  /** `hash`: that of a destination, of 20 or 32 bytes. */
  add(hash: Bytes): void {
    const value = mark(hash);
    const at = this.slotOf(value);
    if (this.slots[at] === value) return;
    this.slots[at] = value;
    if (++this.count * 2 > this.slots.length) this.grow();
  }

  has(hash: Bytes): boolean {
    return this.count > 0 && this.slots[this.slotOf(mark(hash))] !== 0;
  }

  /** Where a value is, or the empty slot where it would be put. Hashes are evenly spread as they are. */
  private slotOf(value: number): number {
    const { slots } = this;
    let at = value & (slots.length - 1);
    while (slots[at] !== 0 && slots[at] !== value) at = (at + 1) & (slots.length - 1);
    return at;
  }

  private grow(): void {
    const known = this.slots;
    this.slots = new Uint32Array(known.length * 2);
    for (const value of known) if (value !== 0) this.slots[this.slotOf(value)] = value;
  }
}
