/**
 * Byte strings packed into a few large buffers outside the JavaScript heap, each identified by a number. Tables of very many
 * small rows use an arena instead of one object for each row. The caller stores the numbers of the strings. Layout: slabs of
 * 1 MiB are divided into units of 8 bytes. A string is stored as `u32 capacity in units ‖ u32 length ‖ bytes`. Capacities of
 * long strings are rounded up by at most an eighth, so a growing string is seldom moved. A freed place (storage position) is
 * reused for the next string with the same capacity. A string that is too long for a slab gets its own slab.
 */
import type { Bytes } from '../../util/bytes.js';

const SLAB_BYTES = 1 << 20;
const UNIT_BYTES = 8;
const UNITS_PER_SLAB = SLAB_BYTES / UNIT_BYTES;
const HEAD_BYTES = 8;
const HEAD_UNITS = HEAD_BYTES / UNIT_BYTES;

export class ValueArena {
  private slabs: Buffer[] = [];
  /** Empty slabs that are kept for reuse. */
  private spare: Buffer[] = [];
  /** Number of standard-size slabs that were in use before the last `clear`. */
  private lastUsed = 0;
  /** `current`: number of the slab that is being filled. `at`: fill position in that slab, in units. */
  private current = -1;
  private at = UNITS_PER_SLAB;
  private bytes = 0;
  /** Freed storage positions, by capacity in units. */
  private freed = new Map<number, number[]>();

  /** Number of bytes of the stored strings and of the freed positions. */
  get usedBytes(): number {
    return this.bytes;
  }

  /** Stores a copy of `value`. Returns its place (the number that identifies the string). */
  add(value: Bytes): number {
    const units = capacityFor(value.length);
    const place = this.freed.get(units)?.pop() ?? this.place(units);
    this.write(place, value);
    return place;
  }

  /** Replaces the string at `place`. Moves the string if it does not fit. Returns its place. */
  replace(place: number, value: Bytes): number {
    if (value.length <= this.capacityAt(place) * UNIT_BYTES) {
      this.write(place, value);
      return place;
    }
    this.free(place);
    return this.add(value);
  }

  /** Frees the string at `place`. */
  free(place: number): void {
    const units = this.capacityAt(place);
    const places = this.freed.get(units);
    if (places) places.push(place);
    else this.freed.set(units, [place]);
  }

  /** Returns a view of the string at `place`. It is valid until the next change of the arena. */
  view(place: number): Buffer {
    const slab = this.slabOf(place);
    const offset = offsetOf(place);
    const from = offset + HEAD_BYTES;
    return slab.subarray(from, from + slab.readUInt32LE(offset + 4));
  }

  /** Removes all strings. Keeps empty slabs for reuse: as many as both of the last two fillings used. */
  clear(): void {
    const usual = this.slabs.filter((slab) => slab.length === SLAB_BYTES);
    this.spare = usual.concat(this.spare).slice(0, Math.min(usual.length, this.lastUsed));
    this.lastUsed = usual.length;
    this.slabs = [];
    this.freed.clear();
    this.current = -1;
    this.at = UNITS_PER_SLAB;
    this.bytes = 0;
  }

  private slabOf(place: number): Buffer {
    return this.slabs[Math.floor(place / UNITS_PER_SLAB)]!;
  }

  private capacityAt(place: number): number {
    return this.slabOf(place).readUInt32LE(offsetOf(place));
  }

  /** Allocates storage with a capacity given in units of 8 bytes. */
  private place(units: number): number {
    const needed = HEAD_UNITS + units;
    this.bytes += needed * UNIT_BYTES;
    let place: number;
    if (needed > UNITS_PER_SLAB) {
      place = (this.slabs.push(Buffer.allocUnsafeSlow(needed * UNIT_BYTES)) - 1) * UNITS_PER_SLAB;
    } else {
      if (this.at + needed > UNITS_PER_SLAB) this.beginSlab();
      place = this.current * UNITS_PER_SLAB + this.at;
      this.at += needed;
    }
    this.slabOf(place).writeUInt32LE(units, offsetOf(place));
    return place;
  }

  private beginSlab(): void {
    this.current = this.slabs.push(this.spare.pop() ?? Buffer.allocUnsafeSlow(SLAB_BYTES)) - 1;
    this.at = 0;
  }

  private write(place: number, value: Bytes): void {
    const slab = this.slabOf(place);
    const offset = offsetOf(place);
    slab.writeUInt32LE(value.length, offset + 4);
    slab.set(value, offset + HEAD_BYTES);
  }
}

function offsetOf(place: number): number {
  return (place % UNITS_PER_SLAB) * UNIT_BYTES;
}

/** Capacity in units for a string of `bytes` bytes. Above 16 units there are eight capacities for each power of two. */
function capacityFor(bytes: number): number {
  const units = Math.ceil(bytes / UNIT_BYTES);
  if (units <= 16) return units;
  const step = 2 ** (28 - Math.clz32(units));
  return Math.ceil(units / step) * step;
}
