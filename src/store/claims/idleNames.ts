/**
 * Filter of idle names. An idle name has a row although it has no active claims (because of supports, pending items, a
 * takeover height, or history that no snapshot covers). The filter has a fixed size, is stored in rows and in memory, and
 * each bit represents many names. It avoids lookups: most new claims have unknown names, and a lookup of a missing row makes
 * LevelDB read a file of every level. Bits are set and never cleared, so memory always has at least the bits on disk. A
 * discarded transaction or a disconnected block leaves extra bits, never missing ones. Each row of the filter is written as
 * a whole for the same reason: a row must not lose bits.
 */
import { prefixEnd, type RowReader, type RowWriter } from '../rows/rows.js';
import { CLAIM_PREFIX, idleNamesKey } from './rows/claimKeys.js';

/** Number of bits of the filter: 2 MiB of memory. With 170,000 idle names one lookup in a hundred is unnecessary. */
const BITS = 2 ** 24;
/** Size in bytes of a row of the filter. Small, because a row is written for each name that becomes idle. Arbitrary. */
const ROW_BYTES = 256;
const BITS_PER_ROW = 8 * ROW_BYTES;

export class IdleNames {
  /** The bits in memory; null until they are read. */
  private bits: Buffer | null = null;
  private loaded: Promise<void> | null = null;

  /** Reads the rows of the filter once. A second read would overwrite bits that were added after the first. */
  load(rows: RowReader): Promise<void> {
    return (this.loaded ??= this.read(rows).catch((error: unknown) => {
      this.loaded = null;
      throw error;
    }));
  }

  private async read(rows: RowReader): Promise<void> {
    const bits = Buffer.alloc(BITS / 8);
    const range = { gte: CLAIM_PREFIX.idle, lt: prefixEnd(CLAIM_PREFIX.idle) };
    for await (const [key, row] of rows.range(range)) {
      const number = key.charCodeAt(1) * 256 + key.charCodeAt(2);
      bits.set(row, number * ROW_BYTES);
    }
    this.bits = bits;
  }

  /** The bits of the filter in memory, which the addon may set; null before `load`. */
  get loadedBits(): Buffer | null {
    return this.bits;
  }

  /**
   * Returns whether the name may be an idle name. If the result is false, the name has a row only if it has active claims.
   * `load` must be called first.
   */
  mayHold(name: string): boolean {
    const bit = bitOf(name);
    return (this.bits![bit >>> 3]! & (1 << (bit & 7))) !== 0;
  }

  /** Adds a name without active claims whose row is being written. `load` must be called first. */
  add(rows: RowWriter, name: string): void {
    const bit = bitOf(name);
    const number = Math.floor(bit / BITS_PER_ROW);
    const bits = this.bits!;
    bits[bit >>> 3]! |= 1 << (bit & 7);
    const row = bits.subarray(number * ROW_BYTES, (number + 1) * ROW_BYTES);
    rows.put(idleNamesKey(number), Buffer.from(row));
  }
}

/**
 * Bit number of a name: the FNV-1a hash, folded. An attacker who creates names with the same bit can only cause unnecessary
 * lookups.
 */
function bitOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % BITS;
}
