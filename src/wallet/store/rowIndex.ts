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

  set(key: Bytes, offset: number, value: Bytes): void {
    const slot = this.slotOf(key);
    let at: number;
    if (slot >= 0) {
      at = this.slots[slot]! - 1;
      this.live -= this.sizes[at]!;
    } else {
      at = this.append(key);
      this.live += ROW_HEAD_BYTES + key.length;
    }
    this.offsets[at] = offset;
    this.sizes[at] = value.length;
    this.crcs[at] = crc32c(value);
    this.live += value.length;
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
    for (let at = 0; at < this.used; at++) {
      const start = this.keyStarts[at]!;
      if (this.dead[at] === 1 || start + bytes.length > this.keyStarts[at + 1]!) continue;
      if (this.keyBytes.compare(bytes, 0, bytes.length, start, start + bytes.length) === 0)
        keys.push(this.keyAt(at));
    }
    return keys;
  }

  *entries(): Generator<[key: string, at: number]> {
    for (let at = 0; at < this.used; at++) if (this.dead[at] === 0) yield [this.keyAt(at), at];
  }

  private keyAt(at: number): string {
    return this.keyBytes.toString('latin1', this.keyStarts[at]!, this.keyStarts[at + 1]!);
  }

  /** The slot that holds a key, −1 for none. */
  private slotOf(key: Bytes): number {
    const { slots } = this;
    for (let slot = this.firstSlot(key); ; slot = (slot + 1) % slots.length) {
      const row = slots[slot]!;
      if (row === FREE) return -1;
      if (row !== GONE && this.isKeyOf(row - 1, key)) return slot;
    }
  }

  private isKeyOf(at: number, key: Bytes): boolean {
    const start = this.keyStarts[at]!;
    if (this.keyStarts[at + 1]! - start !== key.length) return false;
    // The last bytes differ sooner.
    for (let i = key.length - 1; i >= 0; i--) if (this.keyBytes[start + i] !== key[i]) return false;
    return true;
  }

  /** Source: FNV-1a. Whoever chooses keys so that they collide has only their own wallet slow. */
  private firstSlot(key: Bytes): number {
    let hash = 0x811c9dc5;
    for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key[i]!, 0x01000193);
    return (hash >>> 0) % this.slots.length;
  }

  private append(key: Bytes): number {
    if (this.used === this.offsets.length) this.makeRoom();
    const at = this.used++;
    const start = this.keyStarts[at]!;
    if (start + key.length > this.keyBytes.length) {
      this.keyBytes = grown(this.keyBytes, Buffer.alloc(more(this.keyBytes.length) + key.length));
    }
    this.keyBytes.set(key, start);
    this.keyStarts[at + 1] = start + key.length;
    this.dead[at] = 0;
    this.enter(at, key);
    return at;
  }

  private enter(at: number, key: Bytes): void {
    if (2 * ++this.taken > this.slots.length) this.fillSlots();
    else {
      let slot = this.firstSlot(key);
      while (this.slots[slot] !== FREE) slot = (slot + 1) % this.slots.length;
      this.slots[slot] = at + 1;
    }
  }

  /** Makes the hash table anew, for all rows that are there. */
  private fillSlots(): void {
    this.slots = new Int32Array(Math.max(4 * (this.used - this.deadCount), 4 * FIRST_ROWS));
    this.taken = 0;
    for (let at = 0; at < this.used; at++) {
      if (this.dead[at] === 0)
        this.enter(at, this.keyBytes.subarray(this.keyStarts[at], this.keyStarts[at + 1]));
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
