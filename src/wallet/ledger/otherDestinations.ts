/**
 * Set of destinations that the wallet's transactions pay to but the wallet cannot spend from, including watch-only ones. It
 * stores the first four bytes of each destination's hash. When a key or script is added, the set tells whether known
 * transactions may pay to it. The set may contain too many destinations (of removed transactions, or with equal prefixes).
 * This costs time but does not change results.
 */
import type { Bytes } from '../../util/bytes.js';

const FIRST_SLOTS = 64;

/** The first four bytes of a hash as a number. Never 0, because 0 marks an empty slot. */
function mark(hash: Bytes): number {
  return (hash[0]! | (hash[1]! << 8) | (hash[2]! << 16) | (hash[3]! << 24)) >>> 0 || 1;
}

export class OtherDestinations {
  /** Hash table with open addressing. At most half of the slots are used. */
  private slots: Uint32Array = new Uint32Array(FIRST_SLOTS);
  private count = 0;

  /** Slots of the hash table, which a later start passes to `fill`. */
  get words(): Uint32Array {
    return this.slots;
  }

  get size(): number {
    return this.count;
  }

  /** Initializes the set with a hash table and its number of entries. The caller must not use the table afterwards. */
  fill(words: Uint32Array, count: number): void {
    this.slots = words;
    this.count = count;
  }

  /** Adds a destination. `hash`: its hash of 20 or 32 bytes. */
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

  /**
   * The slot that contains a value, or the empty slot for it. No further hashing is needed, because the values are parts of
   * hashes and evenly distributed.
   */
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
