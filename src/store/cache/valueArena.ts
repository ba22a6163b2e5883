/**
 * Byte strings packed into a few large buffers outside the JavaScript heap, each identified by a number. A cache of very
 * many small rows uses it instead of one object for each row. Owns the memory; the caller has the index of the strings.
 *
 * Layout: slabs of 1 MiB cut into units of 8 bytes; a string is `u32 capacity in units ‖ u32 length ‖ bytes`. Capacities
 * of long strings are rounded up by an eighth at most, so a growing string is seldom moved. A freed place is reused for the
 * next string of its capacity. A string too long for a slab has one of its own.
 */
import type { Bytes } from '../../util/bytes.js';

const SLAB_BYTES = 1 << 20;
const UNIT_BYTES = 8;
const UNITS_PER_SLAB = SLAB_BYTES / UNIT_BYTES;
const HEAD_BYTES = 8;
const HEAD_UNITS = HEAD_BYTES / UNIT_BYTES;

export class ValueArena {
  private slabs: Buffer[] = [];
  /** Empty slabs that are reserved for reuse. */
  private spare: Buffer[] = [];
  /** Number of standard slabs used before the last `clear`. */
  private lastUsed = 0;
  /** The slab that is being filled, and the fill position. */
  private current = -1;
  private at = UNITS_PER_SLAB;
  private bytes = 0;
  /** Free places by capacity. */
  private freed = new Map<number, number[]>();

  /** Memory of the stored strings and of the free places. */
  get usedBytes(): number {
    return this.bytes;
  }

  /** Stores a copy; returns its place. */
  add(value: Bytes): number {
    const units = capacityFor(value.length);
    const place = this.freed.get(units)?.pop() ?? this.place(units);
    this.write(place, value);
    return place;
  }

  /** Replaces the string at a place, and moves it if it does not fit; returns its place. */
  replace(place: number, value: Bytes): number {
    if (value.length <= this.capacityAt(place) * UNIT_BYTES) {
      this.write(place, value);
      return place;
    }
    this.free(place);
    return this.add(value);
  }

  /** Frees the place. */
  free(place: number): void {
    const units = this.capacityAt(place);
    const places = this.freed.get(units);
    if (places) places.push(place);
    else this.freed.set(units, [place]);
  }

  /** A view of a string, valid until the next change of the arena. */
  view(place: number): Buffer {
    const slab = this.slabOf(place);
    const offset = offsetOf(place);
    const from = offset + HEAD_BYTES;
    return slab.subarray(from, from + slab.readUInt32LE(offset + 4));
  }

  /** Removes everything. It reserves as many slabs as both of the last two fillings used. */
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

  /** Allocates a place of this capacity. */
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

/** Units for a string of this many bytes. Above 16 units there are eight steps for each power of two. */
function capacityFor(bytes: number): number {
  const units = Math.ceil(bytes / UNIT_BYTES);
  if (units <= 16) return units;
  const step = 2 ** (28 - Math.clz32(units));
  return Math.ceil(units / step) * step;
}
