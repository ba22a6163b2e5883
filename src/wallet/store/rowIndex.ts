/**
 * Index of the rows in a wallet file: columns (typed arrays) and a hash table outside the JavaScript heap. Each row takes
 * about 35 bytes plus its key. Rows are in the order in which their keys were first added. Adding a row takes constant time:
 * columns grow by pages, and each addition moves only a few rows to a larger hash table.
 */
import { crc32c } from '../../crypto/crc32c.js';
import type { Bytes } from '../../util/bytes.js';
import type { Slices } from '../../util/slices.js';

const FIRST_ROWS = 1024;
/** `PAGE_ROWS`: number of rows in one page of a column. `PAGE_BITS`: number of key bytes in one page, as a power of two. */
const PAGE_ROWS = 1 << 16;
const PAGE_BITS = 20;
const PAGE_BYTES = 1 << PAGE_BITS;
/**
 * Number of rows that each change moves to a new hash table, so that all rows are moved long before the new table is half
 * full.
 */
const MOVED_AT_ONCE = 8;
/** Size in bytes of a row in the file without its key and value: the two length fields. */
const ROW_HEAD_BYTES = 8;
/** Number of rows that are converted to columns between two yields to the event loop. */
const ROWS_AT_ONCE = 1024;
/**
 * Special values of slots in the hash table: a free slot, and the slot of a deleted row. Other slots contain the row number
 * plus 1.
 */
const FREE = 0;
const GONE = -1;

type Numbers = Float64Array | Uint32Array | Uint8Array;

/** A column with one number for each row, divided into pages. */
class RowColumn {
  private readonly pages: Numbers[] = [];
  private readonly makePage: () => Numbers;

  constructor(type: { new (length: number): Numbers }) {
    this.makePage = () => new type(PAGE_ROWS);
  }

  get(at: number): number {
    return this.pages[at >>> 16]![at & (PAGE_ROWS - 1)]!;
  }

  set(at: number, value: number): void {
    (this.pages[at >>> 16] ??= this.makePage())[at & (PAGE_ROWS - 1)] = value;
  }

  /** Sets the values of the first rows; `values` may be shorter than the column. */
  fill(values: Numbers): void {
    for (let at = 0; at < values.length; at += PAGE_ROWS) {
      const page = this.makePage();
      page.set(values.subarray(at, at + PAGE_ROWS));
      this.pages.push(page);
    }
  }
}

/** The bytes of all keys. Each key is within one page. */
class KeyBytes {
  private pages: Buffer[] = [];
  private end = 0;

  /** Stores the bytes of a key. Returns their place (the position within all pages). */
  add(bytes: Buffer, from: number, to: number): number {
    let page = this.pages[this.pages.length - 1];
    if (page === undefined || this.end + to - from > page.length) {
      page = Buffer.allocUnsafeSlow(Math.max(PAGE_BYTES, to - from));
      this.pages.push(page);
      this.end = 0;
    }
    const start = this.end;
    bytes.copy(page, start, from, to);
    this.end += to - from;
    return (this.pages.length - 1) * PAGE_BYTES + start;
  }

  page(place: number): Buffer {
    return this.pages[place >>> PAGE_BITS]!;
  }

  /** Sets the content of the first pages. */
  fill(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += PAGE_BYTES) {
      const page = Buffer.allocUnsafeSlow(PAGE_BYTES);
      page.set(bytes.subarray(at, at + PAGE_BYTES));
      this.pages.push(page);
      this.end = Math.min(bytes.length - at, PAGE_BYTES);
    }
  }
}

/** Offset of a key's place within its page. */
const inPage = (place: number): number => place & (PAGE_BYTES - 1);

/** All rows of an index in compact form, as columns. */
export interface RowColumns {
  /** Bytes of all keys. `keyPlaces` contains the places of the keys as in `KeyBytes`. */
  readonly keyBytes: Uint8Array;
  readonly keyPlaces: Uint32Array;
  readonly keySizes: Uint32Array;
  readonly offsets: Float64Array;
  readonly sizes: Uint32Array;
  readonly crcs: Uint32Array;
  readonly slots: Int32Array;
}

export interface RowPlace {
  readonly offset: number;
  readonly sizeBytes: number;
  readonly crc: number;
}

export class RowIndex {
  private bytes = new KeyBytes();
  private keyPlaces = new RowColumn(Uint32Array);
  private keySizes = new RowColumn(Uint32Array);
  private offsets = new RowColumn(Float64Array);
  private sizes = new RowColumn(Uint32Array);
  private crcs = new RowColumn(Uint32Array);
  /** 1 for rows that were deleted, otherwise 0. */
  private dead = new RowColumn(Uint8Array);
  private deadCount = 0;
  private used = 0;
  /** Number of rows at which the index is checked for deleted rows that can be removed. */
  private room = FIRST_ROWS;
  private slots = new Int32Array(4 * FIRST_ROWS);
  /** Number of slots in the hash table that are not free. */
  private taken = 0;
  /** The previous hash table while rows are being moved. Rows from `moved` up to `movedEnd` are still only in this table. */
  private before: Int32Array | null = null;
  private moved = 0;
  private movedEnd = 0;
  private live = 0;

  /**
   * Returns all rows as columns, numbered from 0 in their order. Null if a key is longer than a page. Rows must not change
   * during the call.
   */
  *columns(): Slices<RowColumns | null> {
    const count = this.used - this.deadCount;
    const found = {
      keyPlaces: new Uint32Array(count),
      keySizes: new Uint32Array(count),
      offsets: new Float64Array(count),
      sizes: new Uint32Array(count),
      crcs: new Uint32Array(count),
      slots: new Int32Array(4 * Math.max(count, FIRST_ROWS)),
    };
    const { slots } = found;
    const pages: Buffer[] = [];
    let end = PAGE_BYTES;
    let to = 0;
    for (let at = 0; at < this.used; at++) {
      if (at % ROWS_AT_ONCE === 0) yield;
      if (this.dead.get(at) === 1) continue;
      const key = this.keyView(at);
      if (key.length > PAGE_BYTES) return null;
      if (end + key.length > PAGE_BYTES) {
        // The unused rest of a page is filled with zeros, so that it contains no old memory content.
        pages.push(Buffer.alloc(PAGE_BYTES));
        end = 0;
      }
      key.copy(pages[pages.length - 1]!, end);
      found.keyPlaces[to] = (pages.length - 1) * PAGE_BYTES + end;
      end += key.length;
      found.keySizes[to] = key.length;
      found.offsets[to] = this.offsets.get(at);
      found.sizes[to] = this.sizes.get(at);
      found.crcs[to] = this.crcs.get(at);
      let slot = hashOf(key, 0, key.length) % slots.length;
      while (slots[slot] !== FREE) slot = (slot + 1) % slots.length;
      slots[slot] = ++to;
    }
    const last = pages.pop();
    const keyBytes = last === undefined ? Buffer.alloc(0) : Buffer.concat([...pages, last.subarray(0, end)]);
    return { ...found, keyBytes };
  }

  /** Creates an index with these rows. `live` is the number of bytes that the rows take in the file (`liveBytes`). */
  static restore(columns: RowColumns, live: number): RowIndex {
    const index = new RowIndex();
    const count = columns.keyPlaces.length;
    index.bytes.fill(columns.keyBytes);
    index.keyPlaces.fill(columns.keyPlaces);
    index.keySizes.fill(columns.keySizes);
    index.offsets.fill(columns.offsets);
    index.sizes.fill(columns.sizes);
    index.crcs.fill(columns.crcs);
    index.dead.fill(new Uint8Array(count));
    index.slots = columns.slots.slice();
    index.taken = index.used = count;
    index.room = Math.max(FIRST_ROWS, count);
    index.live = live;
    return index;
  }

  /** Size in bytes that a file with only the existing rows would have. */
  get liveBytes(): number {
    return this.live;
  }

  /** Number of used row numbers, including those of deleted rows. */
  get rowCount(): number {
    return this.used;
  }

  /** Whether row number `at` exists and was not deleted. */
  isThere(at: number): boolean {
    return this.dead.get(at) === 0;
  }

  get isEmpty(): boolean {
    return this.used === this.deadCount;
  }

  /** Number of the row with this key; −1 if no row has it. Valid until the next change. */
  find(key: string): number {
    return this.rowOf(Buffer.from(key, 'latin1'));
  }

  has(key: string): boolean {
    return this.find(key) >= 0;
  }

  place(at: number): RowPlace {
    return { offset: this.offsets.get(at), sizeBytes: this.sizes.get(at), crc: this.crcs.get(at) };
  }

  /**
   * Adds or replaces a row. `keyStart`, `valueStart` and `valueEnd` are offsets in `records`. `offset` is the offset of the
   * value in the file.
   */
  set(records: Buffer, keyStart: number, valueStart: number, valueEnd: number, offset: number): void {
    let at = this.rowOf(records, keyStart, valueStart);
    if (at >= 0) {
      this.live -= this.sizes.get(at);
    } else {
      at = this.append(records, keyStart, valueStart);
      this.live += ROW_HEAD_BYTES + valueStart - keyStart;
    }
    this.offsets.set(at, offset);
    this.sizes.set(at, valueEnd - valueStart);
    this.crcs.set(at, crc32c(records.subarray(valueStart, valueEnd)));
    this.live += valueEnd - valueStart;
    this.moveSome();
  }

  delete(key: Bytes): void {
    const slot = this.slotIn(this.slots, 0, key, 0, key.length);
    const table = slot >= 0 ? this.slots : this.before;
    const found = slot >= 0 || table === null ? slot : this.slotIn(table, this.moved, key, 0, key.length);
    if (table === null || found < 0) return;
    const at = table[found]! - 1;
    table[found] = GONE;
    this.live -= ROW_HEAD_BYTES + key.length + this.sizes.get(at);
    this.dead.set(at, 1);
    this.deadCount++;
    this.moveSome();
  }

  keys(prefix: string): string[] {
    return [...this.eachKey(prefix)];
  }

  *eachKey(prefix: string): Generator<string> {
    const bytes = Buffer.from(prefix, 'latin1');
    for (let at = 0; at < this.used; at++)
      if (this.dead.get(at) === 0 && this.beginsWith(at, bytes)) yield this.keyAt(at);
  }

  *entries(): Generator<[key: string, at: number]> {
    for (let at = 0; at < this.used; at++) if (this.dead.get(at) === 0) yield [this.keyAt(at), at];
  }

  /**
   * Numbers of the rows whose keys start with `prefix`, or (`isOther`) of all other rows, in the order of their values in
   * the file.
   */
  inFileOrder(prefix: string, isOther: boolean): Uint32Array {
    const bytes = Buffer.from(prefix, 'latin1');
    const found = new Uint32Array(this.used - this.deadCount);
    let count = 0;
    let isSorted = true;
    let last = 0;
    for (let at = 0; at < this.used; at++) {
      if (this.dead.get(at) === 1 || this.beginsWith(at, bytes) === isOther) continue;
      found[count++] = at;
      isSorted &&= this.offsets.get(at) > last;
      last = this.offsets.get(at);
    }
    const rows = found.subarray(0, count);
    return isSorted ? rows : rows.sort((a, b) => this.offsets.get(a) - this.offsets.get(b));
  }

  private beginsWith(at: number, prefix: Buffer): boolean {
    if (prefix.length > this.keySizes.get(at)) return false;
    const place = this.keyPlaces.get(at);
    const page = this.bytes.page(place);
    const start = inPage(place);
    for (let i = 0; i < prefix.length; i++) if (page[start + i] !== prefix[i]) return false;
    return true;
  }

  /** Returns the key of a row as a view that is valid until the next change. */
  keyView(at: number): Buffer {
    const place = this.keyPlaces.get(at);
    const start = inPage(place);
    return this.bytes.page(place).subarray(start, start + this.keySizes.get(at));
  }

  /** Returns the key of a row without its first `from` bytes, as latin1. */
  keyAt(at: number, from = 0): string {
    const place = this.keyPlaces.get(at);
    const start = inPage(place);
    return this.bytes.page(place).toString('latin1', start + from, start + this.keySizes.get(at));
  }

  /** Number of the row whose key is in `bytes` between `start` and `end`; −1 if no row has it. */
  private rowOf(bytes: Bytes, start = 0, end = bytes.length): number {
    const slot = this.slotIn(this.slots, 0, bytes, start, end);
    if (slot >= 0) return this.slots[slot]! - 1;
    if (this.before === null) return -1;
    const old = this.slotIn(this.before, this.moved, bytes, start, end);
    return old < 0 ? -1 : this.before[old]! - 1;
  }

  /** The slot of a hash table that contains the row with this key, if its row number is at least `first`; −1 if no slot does. */
  private slotIn(table: Int32Array, first: number, bytes: Bytes, start: number, end: number): number {
    for (let slot = hashOf(bytes, start, end) % table.length; ; slot = (slot + 1) % table.length) {
      const row = table[slot]!;
      if (row === FREE) return -1;
      if (row > first && this.isKeyOf(row - 1, bytes, start, end)) return slot;
    }
  }

  private isKeyOf(at: number, bytes: Bytes, start: number, end: number): boolean {
    if (this.keySizes.get(at) !== end - start) return false;
    const place = this.keyPlaces.get(at);
    const page = this.bytes.page(place);
    const shift = inPage(place) - start;
    // The comparison starts at the end, because keys usually differ in their last bytes.
    for (let i = end - 1; i >= start; i--) if (page[shift + i] !== bytes[i]) return false;
    return true;
  }

  private append(bytes: Buffer, from: number, to: number): number {
    if (this.used === this.room) this.makeRoom();
    const at = this.used++;
    this.keyPlaces.set(at, this.bytes.add(bytes, from, to));
    this.keySizes.set(at, to - from);
    this.dead.set(at, 0);
    if (2 * (this.taken + 1) > this.slots.length) this.beginTable();
    this.enter(at);
    return at;
  }

  private enter(at: number): void {
    const place = this.keyPlaces.get(at);
    const start = inPage(place);
    const { slots } = this;
    let slot = hashOf(this.bytes.page(place), start, start + this.keySizes.get(at)) % slots.length;
    while (slots[slot] !== FREE) slot = (slot + 1) % slots.length;
    slots[slot] = at + 1;
    this.taken++;
  }

  /** Starts a larger hash table. The existing rows, except the last, are moved to it step by step. */
  private beginTable(): void {
    this.moveUpTo(this.movedEnd);
    this.before = this.slots;
    this.moved = 0;
    this.movedEnd = this.used - 1;
    this.slots = new Int32Array(Math.max(4 * (this.used - this.deadCount), 4 * FIRST_ROWS));
    this.taken = 0;
  }

  private moveSome(): void {
    if (this.before !== null) this.moveUpTo(Math.min(this.movedEnd, this.moved + MOVED_AT_ONCE));
  }

  private moveUpTo(end: number): void {
    for (; this.moved < end; this.moved++) if (this.dead.get(this.moved) === 0) this.enter(this.moved);
    if (this.moved === this.movedEnd) this.before = null;
  }

  /** Makes space in the index. Compacts the rows if more than half of them were deleted; otherwise raises the limit `room`. */
  private makeRoom(): void {
    if (2 * this.deadCount > this.used) this.closeUp();
    else this.room += this.room >>> 2;
  }

  private closeUp(): void {
    const bytes = new KeyBytes();
    let to = 0;
    for (let at = 0; at < this.used; at++) {
      if (this.dead.get(at) === 1) continue;
      const key = this.keyView(at);
      this.keyPlaces.set(to, bytes.add(key, 0, key.length));
      for (const column of [this.keySizes, this.offsets, this.sizes, this.crcs])
        column.set(to, column.get(at));
      this.dead.set(to, 0);
      to++;
    }
    this.bytes = bytes;
    this.used = to;
    this.deadCount = 0;
    this.slots = new Int32Array(4 * Math.max(to, FIRST_ROWS));
    this.taken = 0;
    this.before = null;
    this.moved = this.movedEnd = 0;
    for (let at = 0; at < to; at++) this.enter(at);
  }
}

/**
 * Hash of a key: FNV-1a with four bytes per step. A user who creates colliding keys only slows down their own wallet.
 * Source: FNV-1a.
 */
function hashOf(key: Bytes, start: number, end: number): number {
  let hash = 0x811c9dc5;
  let i = start;
  for (; i + 4 <= end; i += 4) {
    const word = key[i]! | (key[i + 1]! << 8) | (key[i + 2]! << 16) | (key[i + 3]! << 24);
    // The upper bits are mixed into the lower bits, because the upper bits of a product depend on all input bits, and the
    // lower bits on few.
    hash = Math.imul(hash ^ word, 0x01000193);
    hash ^= hash >>> 15;
  }
  for (; i < end; i++) hash = Math.imul(hash ^ key[i]!, 0x01000193);
  return hash >>> 0;
}
