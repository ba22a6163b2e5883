/**
 * Byte strings packed into a few large buffers outside the JavaScript heap, each known by a number: what a cache of very
 * many small rows keeps instead of an object a row. Owns the memory; what the strings are and who finds them is the
 * caller's business.
 *
 * Layout: slabs of 1 MiB cut into units of 8 bytes; a string is `u32 capacity in units ‖ u32 length ‖ bytes`. Capacities
 * of long strings are rounded up by an eighth at most, so that a string that grows moves seldom, and a freed place is
 * given to the next string of its capacity. A string too long for a slab has one of its own.
 */
import type { Bytes } from '../../util/bytes.js';

const SLAB_BYTES = 1 << 20;
const UNIT_BYTES = 8;
const UNITS_PER_SLAB = SLAB_BYTES / UNIT_BYTES;
const HEAD_BYTES = 8;
const HEAD_UNITS = HEAD_BYTES / UNIT_BYTES;

export class ValueArena {
  private slabs: Buffer[] = [];
  /** Emptied slabs that are kept for the next filling. */
  private spare: Buffer[] = [];
  /** Slabs of the usual size that the last filling took. */
  private lastUsed = 0;
  /** The slab that is being filled, and how far. */
  private current = -1;
  private at = UNITS_PER_SLAB;
  private bytes = 0;
  /** Places that may be given again, by capacity. */
  private freed = new Map<number, number[]>();

  /** Memory taken by what is stored, and by what was and may be given again. */
  get usedBytes(): number {
    return this.bytes;
  }

  /** Stores a copy; answers where. */
  add(value: Bytes): number {
    const units = capacityFor(value.length);
    const place = this.freed.get(units)?.pop() ?? this.place(units);
    this.write(place, value);
    return place;
  }

  /** Puts another string in place of one, or elsewhere when it does not fit; answers where. */
  replace(place: number, value: Bytes): number {
    if (value.length <= this.capacityAt(place) * UNIT_BYTES) {
      this.write(place, value);
      return place;
    }
    this.free(place);
    return this.add(value);
  }

  /** Gives the place back. */
  free(place: number): void {
    const units = this.capacityAt(place);
    const places = this.freed.get(units);
    if (places) places.push(place);
    else this.freed.set(units, [place]);
  }

  /** A view of a string, good until the next change of the arena. */
  view(place: number): Buffer {
    const slab = this.slabOf(place);
    const offset = offsetOf(place);
    const from = offset + HEAD_BYTES;
    return slab.subarray(from, from + slab.readUInt32LE(offset + 4));
  }

  /** Forgets everything. As many slabs are kept as both of the last two fillings took. */
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

  /** A new place of this capacity. */
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

/** Units for a string of this many bytes: beyond 16 only every eighth step of a power of two. */
function capacityFor(bytes: number): number {
  const units = Math.ceil(bytes / UNIT_BYTES);
  if (units <= 16) return units;
  const step = 2 ** (28 - Math.clz32(units));
  return Math.ceil(units / step) * step;
}
