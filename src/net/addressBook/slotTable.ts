/**
 * A table with a fixed number of slots and a list of the occupied ones, from which a random one is drawn in constant time.
 * The reference draws random slots until one is occupied, which has the same distribution but is slow in a nearly empty
 * table.
 */
import type { RandomSource } from '../messageHandler.js';

export class SlotTable<T> {
  private readonly slots: (T | null)[];
  /** Occupied slots in any order. */
  private readonly occupied: number[] = [];
  /** Position of a slot in `occupied`. */
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

  /** The slot must be empty. */
  set(slot: number, value: T): void {
    this.slots[slot] = value;
    this.where[slot] = this.occupied.length;
    this.occupied.push(slot);
  }

  /** The slot must be occupied. */
  clear(slot: number): void {
    this.slots[slot] = null;
    const at = this.where[slot]!;
    const last = this.occupied.pop()!;
    if (last === slot) return;
    this.occupied[at] = last;
    this.where[last] = at;
  }

  /** Content of a random occupied slot; there must be one. */
  random(random: RandomSource): T {
    return this.slots[this.occupied[random.int(this.occupied.length)]!]!;
  }
}
