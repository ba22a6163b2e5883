/**
 * Which names without active claims have a row all the same (supports, pending items, a takeover height, history that
 * no snapshot covers): a fixed set of bits, one for many names, kept in rows and in memory. Most new claims are of names
 * that no one knows, and to look in vain for a row costs LevelDB a look into a file of every level.
 *
 * Bits are set and never cleared, so that what memory knows is always more than what is on disk: a transaction that is
 * discarded, or a block taken back, leaves bits that say too much, never too little. Each row is written whole whenever
 * a name of it is, for the same reason.
 */
import { prefixEnd, type RowReader, type RowWriter } from '../rows/rows.js';
import { CLAIM_PREFIX, idleNamesKey } from './rows/claimKeys.js';

/** 2 MiB of memory: a name in a hundred is searched in vain when 170,000 are idle. */
const BITS = 2 ** 24;
/** Bytes of a row. Arbitrary: small, since a row is written for each name that becomes idle. */
const ROW_BYTES = 256;
const BITS_PER_ROW = 8 * ROW_BYTES;

export class IdleNames {
  /** Null until they are read. */
  private bits: Buffer | null = null;
  private loaded: Promise<void> | null = null;

  /** Reads the rows, once: what is added later must not be lost to a second reading. */
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

  /** False when there is surely no row of the name, unless it has active claims. Loaded before. */
  mayHold(name: string): boolean {
    const bit = bitOf(name);
    return (this.bits![bit >>> 3]! & (1 << (bit & 7))) !== 0;
  }

  /** Notes a name without active claims whose row is being written. Loaded before. */
  add(rows: RowWriter, name: string): void {
    const bit = bitOf(name);
    const number = Math.floor(bit / BITS_PER_ROW);
    const bits = this.bits!;
    bits[bit >>> 3]! |= 1 << (bit & 7);
    const row = bits.subarray(number * ROW_BYTES, (number + 1) * ROW_BYTES);
    rows.put(idleNamesKey(number), Buffer.from(row));
  }
}

/** FNV-1a, folded. An attacker with names that share a bit causes useless lookups, and no more. */
function bitOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % BITS;
}
