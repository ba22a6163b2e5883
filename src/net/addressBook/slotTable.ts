/**
 * A table with a fixed number of slots and a list of the occupied slots, so that a random occupied slot is drawn in constant
 * time. The reference draws random slots until one is occupied, which has the same distribution but is slow in a nearly
 * empty table.
 */
import type { RandomSource } from '../messageHandler.js';

export class SlotTable<T> {
  private readonly slots: (T | null)[];
  /** Indexes of the occupied slots, in no particular order. */
  private readonly occupied: number[] = [];
  /** For each slot its position in `occupied`; undefined for empty slots. */
  private readonly where: Int32Array;

  constructor(slotCount: number) {
    this.slots = new Array<T | null>(slotCount).fill(null);
    this.where = new Int32Array(slotCount);
  }

  get occupiedCount(): number {
    return this.occupied.length;
  }

  get(slot: number): T | null {
    return this.slots[slot]!;
  }

  /** Sets the content of an empty slot. */
  set(slot: number, value: T): void {
    this.slots[slot] = value;
    this.where[slot] = this.occupied.length;
    this.occupied.push(slot);
  }

  /** Empties an occupied slot. */
  clear(slot: number): void {
    this.slots[slot] = null;
    const at = this.where[slot]!;
    const last = this.occupied.pop()!;
    if (last === slot) return;
    this.occupied[at] = last;
    this.where[last] = at;
  }

  /** Content of a random occupied slot. At least one slot must be occupied. */
  random(random: RandomSource): T {
    return this.slots[this.occupied[random.int(this.occupied.length)]!]!;
  }
}
