/**
 * The short ids of a compact block, to be found by id. A peer chooses them as it likes: a table in which too many meet
 * is refused, so that looking up stays cheap. Source: Core blockencodings.cpp `InitData`.
 */
import { SHORT_ID_SIZE_BYTES } from '../messages/cmpctblock.js';

/** By chance, this many in one bucket are exceeded about once in a million blocks of 16,000 transactions. */
const MAX_PER_BUCKET = 12;

export class ShortIdTable {
  /** How many ids there are. */
  readonly count: number;
  private readonly mask: number;
  private readonly low: Uint32Array;
  private readonly high: Uint16Array;
  /** One more than the number of a bucket's last id, and for each id that of the one before it in its bucket; 0: none. */
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

  /** `shortIds` has 6 bytes each, little endian; null when two are equal or they are too unevenly distributed. */
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

  /** The number of the id with these halves (32 and 16 bits), or −1. */
  find(low: number, high: number): number {
    for (let at = this.last[low & this.mask]!; at !== 0; at = this.before[at - 1]!) {
      if (this.low[at - 1] === low && this.high[at - 1] === high) return at - 1;
    }
    return -1;
  }
}
