/**
 * Hash table of the short ids of a compact block. A peer can choose the ids freely, so a table with too many ids in a bucket
 * is rejected, which limits the time of lookups. Source: Core blockencodings.cpp `InitData`.
 */
import { SHORT_ID_SIZE_BYTES } from '../messages/cmpctblock.js';

/** Maximum number of ids in a bucket. With random ids it is exceeded about once in a million blocks of 16,000 transactions. */
const MAX_PER_BUCKET = 12;

export class ShortIdTable {
  /** Number of short ids in the table. */
  readonly count: number;
  private readonly mask: number;
  private readonly low: Uint32Array;
  private readonly high: Uint16Array;
  /**
   * Linked lists of the buckets. `last` has the index of each bucket's last id plus one; `before` has, for each id, the
   * index plus one of the previous id in its bucket. 0 ends a list.
   */
  private readonly last: Uint32Array;
  private readonly before: Uint32Array;

  private constructor(count: number) {
    const buckets = 2 ** Math.ceil(Math.log2(Math.max(1, count)));
    this.count = count;
    this.mask = buckets - 1;
    this.low = new Uint32Array(count);
    this.high = new Uint16Array(count);
    this.last = new Uint32Array(buckets);
    this.before = new Uint32Array(count);
  }

  /**
   * Builds the table. `shortIds` has 6 bytes for each id, little endian. Null if two ids are equal, or if the ids are too
   * unevenly distributed.
   */
  static build(shortIds: Buffer): ShortIdTable | null {
    const table = new ShortIdTable(shortIds.length / SHORT_ID_SIZE_BYTES);
    for (let number = 0; number < table.count; number++) {
      const at = number * SHORT_ID_SIZE_BYTES;
      if (!table.add(number, shortIds.readUInt32LE(at), shortIds.readUInt16LE(at + 4))) return null;
    }
    return table;
  }

  private add(number: number, low: number, high: number): boolean {
    const bucket = low & this.mask;
    let others = 0;
    for (let at = this.last[bucket]!; at !== 0; at = this.before[at - 1]!) {
      if (this.low[at - 1] === low && this.high[at - 1] === high) return false;
      if (++others === MAX_PER_BUCKET) return false;
    }
    this.low[number] = low;
    this.high[number] = high;
    this.before[number] = this.last[bucket]!;
    this.last[bucket] = number + 1;
    return true;
  }

  /** Index of the short id with these parts (low 32 and high 16 bits); −1 if the table does not contain it. */
  find(low: number, high: number): number {
    for (let at = this.last[low & this.mask]!; at !== 0; at = this.before[at - 1]!) {
      if (this.low[at - 1] === low && this.high[at - 1] === high) return at - 1;
    }
    return -1;
  }
}
