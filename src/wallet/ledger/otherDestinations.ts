/**
 * Set of destinations that the wallet's transactions pay to but the wallet cannot spend from, including watch-only ones. It
 * stores the first four bytes of each hash. When a key or script is added, the set shows whether known transactions may pay
 * to it. The set may contain too much (removed transactions, equal prefixes), which costs time but does not change results.
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

  /** The raw table, and the number of marks in it, for `fill`. */
  get words(): Uint32Array {
    return this.slots;
  }

  get size(): number {
    return this.count;
  }

  /** Starts with the given table, which the caller must not use afterwards. */
  fill(words: Uint32Array, count: number): void {
    this.slots = words;
    this.count = count;
  }

  /** `hash`: hash of a destination, 20 or 32 bytes. */
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

  /** The slot of a value, or the empty slot for it. Hashes are already evenly distributed. */
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
