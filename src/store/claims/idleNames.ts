/**
 * Idle names: names without active claims that have a row all the same (supports, pending items, a takeover height, history
 * that no snapshot covers). A filter of fixed size, stored in rows and in memory, has one bit for many names. Most new
 * claims have unknown names, and a lookup of a missing row makes LevelDB read a file of every level. Bits are set and never
 * cleared, so memory always has at least the bits on disk. A discarded transaction or a disconnected block leaves extra
 * bits, never missing ones. For the same reason each row is written as a whole.
 */
import { prefixEnd, type RowReader, type RowWriter } from '../rows/rows.js';
import { CLAIM_PREFIX, idleNamesKey } from './rows/claimKeys.js';

/** 2 MiB of memory. With 170,000 idle names one lookup in a hundred is unnecessary. */
const BITS = 2 ** 24;
/** Bytes of a row. Arbitrary: small, since a row is written for each name that becomes idle. */
const ROW_BYTES = 256;
const BITS_PER_ROW = 8 * ROW_BYTES;

export class IdleNames {
  /** Null until they are read. */
  private bits: Buffer | null = null;
  private loaded: Promise<void> | null = null;

  /** Reads the rows, once: a second read would lose bits added since. */
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

  /** False if the name surely has no row, unless it has active claims. Call `load` first. */
  mayHold(name: string): boolean {
    const bit = bitOf(name);
    return (this.bits![bit >>> 3]! & (1 << (bit & 7))) !== 0;
  }

  /** Adds a name without active claims whose row is being written. Call `load` first. */
  add(rows: RowWriter, name: string): void {
    const bit = bitOf(name);
    const number = Math.floor(bit / BITS_PER_ROW);
    const bits = this.bits!;
    bits[bit >>> 3]! |= 1 << (bit & 7);
    const row = bits.subarray(number * ROW_BYTES, (number + 1) * ROW_BYTES);
    rows.put(idleNamesKey(number), Buffer.from(row));
  }
}

/** FNV-1a, folded. With names that share a bit an attacker can only cause unnecessary lookups. */
function bitOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % BITS;
}
