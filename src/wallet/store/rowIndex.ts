/**
 * Where the rows of a wallet file lie: columns and a hash table off the JavaScript heap, about 30 bytes a row beside its key.
 * Rows keep the order in which their keys first came.
 */
import { crc32c } from '../../crypto/crc32c.js';
import type { Bytes } from '../../util/bytes.js';

const FIRST_ROWS = 1024;
const FIRST_KEY_BYTES = 1 << 16;
/** What a row takes in the file besides key and value: its lengths. */
const ROW_HEAD_BYTES = 8;
/** In the hash table: nothing was there, and nothing is there any more. Rows count from 1. */
const FREE = 0;
const GONE = -1;

export interface RowPlace {
  readonly offset: number;
  readonly sizeBytes: number;
  readonly crc: number;
}

export class RowIndex {
  /** Keys one after the other, and where each begins; that of row `at` ends where the next begins. */
  private keyBytes = Buffer.alloc(FIRST_KEY_BYTES);
  private keyStarts = new Uint32Array(FIRST_ROWS + 1);
  private offsets = new Float64Array(FIRST_ROWS);
  private sizes = new Uint32Array(FIRST_ROWS);
  private crcs = new Uint32Array(FIRST_ROWS);
  /** 1 for rows that were deleted. */
  private dead = new Uint8Array(FIRST_ROWS);
  private deadCount = 0;
  private used = 0;
  private slots = new Int32Array(4 * FIRST_ROWS);
  /** Slots that are not free. */
  private taken = 0;
  private live = 0;

  /** Bytes that the rows take in a file without anything else. */
  get liveBytes(): number {
    return this.live;
  }

  get isEmpty(): boolean {
    return this.used === this.deadCount;
  }

  /** The number of a row, −1 for none. Good until the next change. */
  find(key: string): number {
    const bytes = Buffer.from(key, 'latin1');
    const slot = this.slotOf(bytes);
    return slot < 0 ? -1 : this.slots[slot]! - 1;
  }

  has(key: string): boolean {
    return this.find(key) >= 0;
  }

  place(at: number): RowPlace {
    return { offset: this.offsets[at]!, sizeBytes: this.sizes[at]!, crc: this.crcs[at]! };
  }

  /** Of a row in `records`: where its key begins, its value begins and ends; and where its value lies in the file. */
  set(records: Buffer, keyStart: number, valueStart: number, valueEnd: number, offset: number): void {
    const slot = this.slotOf(records, keyStart, valueStart);
    let at: number;
    if (slot >= 0) {
      at = this.slots[slot]! - 1;
      this.live -= this.sizes[at]!;
    } else {
      at = this.append(records, keyStart, valueStart);
      this.live += ROW_HEAD_BYTES + valueStart - keyStart;
    }
    this.offsets[at] = offset;
    this.sizes[at] = valueEnd - valueStart;
    this.crcs[at] = crc32c(records.subarray(valueStart, valueEnd));
    this.live += valueEnd - valueStart;
  }

  delete(key: Bytes): void {
    const slot = this.slotOf(key);
    if (slot < 0) return;
    const at = this.slots[slot]! - 1;
    this.slots[slot] = GONE;
    this.live -= ROW_HEAD_BYTES + key.length + this.sizes[at]!;
    this.dead[at] = 1;
    this.deadCount++;
  }

  keys(prefix: string): string[] {
    const keys: string[] = [];
    const bytes = Buffer.from(prefix, 'latin1');
    for (let at = 0; at < this.used; at++)
      if (this.dead[at] === 0 && this.beginsWith(at, bytes)) keys.push(this.keyAt(at));
    return keys;
  }

  *entries(): Generator<[key: string, at: number]> {
    for (let at = 0; at < this.used; at++) if (this.dead[at] === 0) yield [this.keyAt(at), at];
  }

  /** Numbers of the rows whose keys begin with `prefix`, or of all others, in the order in which their values lie. */
  inFileOrder(prefix: string, isOther: boolean): Uint32Array {
    const bytes = Buffer.from(prefix, 'latin1');
    const found = new Uint32Array(this.used - this.deadCount);
    let count = 0;
    let isSorted = true;
    let last = 0;
    for (let at = 0; at < this.used; at++) {
      if (this.dead[at] === 1 || this.beginsWith(at, bytes) === isOther) continue;
      found[count++] = at;
      isSorted &&= this.offsets[at]! > last;
      last = this.offsets[at]!;
    }
    const rows = found.subarray(0, count);
    return isSorted ? rows : rows.sort((a, b) => this.offsets[a]! - this.offsets[b]!);
  }

  private beginsWith(at: number, prefix: Buffer): boolean {
    const start = this.keyStarts[at]!;
    if (start + prefix.length > this.keyStarts[at + 1]!) return false;
    for (let i = 0; i < prefix.length; i++) if (this.keyBytes[start + i] !== prefix[i]) return false;
    return true;
  }

  /** The key of a row; a view that is good until the next change. */
  keyView(at: number): Buffer {
    return this.keyBytes.subarray(this.keyStarts[at], this.keyStarts[at + 1]);
  }

  /** What follows its first bytes, as a text of a byte a character. */
  keyAt(at: number, from = 0): string {
    return this.keyBytes.toString('latin1', this.keyStarts[at]! + from, this.keyStarts[at + 1]!);
  }

  /** The slot that holds the key between `start` and `end`, −1 for none. */
  private slotOf(bytes: Bytes, start = 0, end = bytes.length): number {
    const { slots } = this;
    for (let slot = this.firstSlot(bytes, start, end); ; slot = (slot + 1) % slots.length) {
      const row = slots[slot]!;
      if (row === FREE) return -1;
      if (row !== GONE && this.isKeyOf(row - 1, bytes, start, end)) return slot;
    }
  }

  private isKeyOf(at: number, bytes: Bytes, start: number, end: number): boolean {
    const { keyBytes } = this;
    const shift = this.keyStarts[at]! - start;
    if (this.keyStarts[at + 1]! - shift !== end) return false;
    // The last bytes differ sooner.
    for (let i = end - 1; i >= start; i--) if (keyBytes[shift + i] !== bytes[i]) return false;
    return true;
  }

  /** Source: FNV-1a, four bytes a step. Whoever chooses keys so that they collide has only their own wallet slow. */
  private firstSlot(key: Bytes, start: number, end: number): number {
    let hash = 0x811c9dc5;
    let i = start;
    for (; i + 4 <= end; i += 4) {
      const word = key[i]! | (key[i + 1]! << 8) | (key[i + 2]! << 16) | (key[i + 3]! << 24);
      // Of a product the upper bits depend on all, the lower ones on few.
      hash = Math.imul(hash ^ word, 0x01000193);
      hash ^= hash >>> 15;
    }
    for (; i < end; i++) hash = Math.imul(hash ^ key[i]!, 0x01000193);
    return (hash >>> 0) % this.slots.length;
  }

  private append(bytes: Buffer, from: number, to: number): number {
    if (this.used === this.offsets.length) this.makeRoom();
    const at = this.used++;
    const start = this.keyStarts[at]!;
    const end = start + to - from;
    if (end > this.keyBytes.length) {
      this.keyBytes = grown(this.keyBytes, Buffer.alloc(more(this.keyBytes.length) + to - from));
    }
    bytes.copy(this.keyBytes, start, from, to);
    this.keyStarts[at + 1] = end;
    this.dead[at] = 0;
    this.enter(at);
    return at;
  }

  private enter(at: number): void {
    if (2 * ++this.taken > this.slots.length) {
      this.fillSlots();
      return;
    }
    let slot = this.firstSlot(this.keyBytes, this.keyStarts[at]!, this.keyStarts[at + 1]!);
    while (this.slots[slot] !== FREE) slot = (slot + 1) % this.slots.length;
    this.slots[slot] = at + 1;
  }

  /** Makes the hash table anew, for all rows that are there. */
  private fillSlots(): void {
    this.slots = new Int32Array(Math.max(4 * (this.used - this.deadCount), 4 * FIRST_ROWS));
    this.taken = 0;
    for (let at = 0; at < this.used; at++) {
      if (this.dead[at] === 0) this.enter(at);
    }
  }

  /** Puts the rows that are left close together when they are the smaller part; else there are more columns. */
  private makeRoom(): void {
    if (2 * this.deadCount > this.used) {
      this.closeUp();
      return;
    }
    const rows = more(this.offsets.length);
    this.offsets = grown(this.offsets, new Float64Array(rows));
    this.sizes = grown(this.sizes, new Uint32Array(rows));
    this.crcs = grown(this.crcs, new Uint32Array(rows));
    this.dead = grown(this.dead, new Uint8Array(rows));
    this.keyStarts = grown(this.keyStarts, new Uint32Array(rows + 1));
  }

  private closeUp(): void {
    let to = 0;
    let end = 0;
    for (let at = 0; at < this.used; at++) {
      if (this.dead[at] === 1) continue;
      const [start, stop] = [this.keyStarts[at]!, this.keyStarts[at + 1]!];
      this.keyBytes.copyWithin(end, start, stop);
      this.keyStarts[to] = end;
      end += stop - start;
      this.offsets[to] = this.offsets[at]!;
      this.sizes[to] = this.sizes[at]!;
      this.crcs[to] = this.crcs[at]!;
      this.dead[to] = 0;
      to++;
    }
    this.keyStarts[to] = end;
    this.used = to;
    this.deadCount = 0;
    this.fillSlots();
  }
}

/** Little at a time: most of it is there already. */
const more = (size: number): number => size + (size >>> 2);

function grown<T extends Uint8Array | Uint32Array | Float64Array>(old: T, room: T): T {
  room.set(old);
  return room;
}
