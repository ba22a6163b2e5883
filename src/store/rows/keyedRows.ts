/**
 * The rows of one transaction: values by key, sorted only when a range is read. `null` marks a deletion, which hides the row
 * in the layers below. Rows that are added as records stay packed until a row of their type is read, because most of them
 * are never read.
 */
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { changesOf } from './rowRecords.js';
import { prefixEnd } from './rows.js';
import type { KeyRange, Memtable } from '../cache/memtable.js';
import { SortedKeys } from '../cache/sortedKeys.js';

/**
 * Estimated memory in bytes of a row besides its bytes: the header of the key, its slots in two tables, and the header of
 * the value's view.
 */
const ROW_OVERHEAD_BYTES = 160;

export class KeyedRows {
  private readonly rows = new Map<string, Bytes | null>();
  private readonly order = new SortedKeys();
  private bytes = 0;
  /** Packed records. They are newer than all rows of the same types in `rows`. */
  private packed: Buffer[] = [];
  /** Row types of `rows`: a bit for each type (`kindBit`), for lower-case letters and for all other characters. */
  private lowerKinds = 0;
  private otherKinds = 0;
  /** Row types of `packed`: the first characters of its keys. */
  private packedKinds = '';

  get sizeBytes(): number {
    return this.bytes;
  }

  get(key: string): Bytes | null | undefined {
    if (this.isPacked(key)) this.unpack();
    return this.rows.get(key);
  }

  set(key: string, value: Bytes | null): void {
    if (this.isPacked(key)) this.unpack();
    const before = this.rows.get(key);
    if (before === undefined) {
      this.bytes += ROW_OVERHEAD_BYTES + key.length;
      this.order.add(key);
      this.noteKind(key);
    } else if (before !== null) this.bytes -= before.length;
    if (value !== null) this.bytes += value.length;
    this.rows.set(key, value);
  }

  /** Whether there may be rows whose keys begin with this character. */
  mayHave(kind: string): boolean {
    const kinds = isLower(kind) ? this.lowerKinds : this.otherKinds;
    return (kinds & kindBit(kind)) !== 0 || this.packedKinds.includes(kind);
  }

  private noteKind(key: string): void {
    if (isLower(key)) this.lowerKinds |= kindBit(key);
    else this.otherKinds |= kindBit(key);
  }

  /** See `RowTransaction.putRecords`. */
  addRecords(kinds: string, records: Buffer): void {
    if (records.length === 0) return;
    this.packed.push(records);
    this.packedKinds += kinds;
    this.bytes += records.length;
  }

  private isPacked(key: string): boolean {
    return this.packedKinds !== '' && this.packedKinds.includes(key.charAt(0));
  }

  private unpack(): void {
    const { packed } = this;
    this.packed = [];
    this.packedKinds = '';
    for (const records of packed) {
      this.bytes -= records.length;
      for (const [key, value] of changesOf(records)) this.set(toLatin1(key), value);
    }
  }

  clear(): void {
    this.rows.clear();
    this.order.clear();
    this.lowerKinds = this.otherKinds = 0;
    this.packed = [];
    this.packedKinds = '';
    this.bytes = 0;
  }

  /** All rows, in the order in which their keys were first written. */
  entries(): IterableIterator<[string, Bytes | null]> {
    this.unpack();
    return this.rows.entries();
  }

  /** Copies all rows to a table. */
  copyTo(table: Pick<Memtable, 'set' | 'addRecords'>): void {
    for (const [key, value] of this.rows) table.set(key, value);
    for (const records of this.packed) table.addRecords(records);
  }

  /**
   * Rows within the range, including deletions, in ascending key order. The result is a snapshot, so the rows may change
   * while the result is used.
   */
  slice({ gte, lt }: KeyRange): [string, Bytes | null][] {
    for (const kind of this.packedKinds) if (gte < prefixEnd(kind) && lt > kind) this.unpack();
    return this.order.between(gte, lt).map((key) => [key, this.rows.get(key) ?? null]);
  }
}

/** Whether a key begins with a character from ` to DEL, a range that includes the lower-case letters. */
const isLower = (key: string): boolean => key.charCodeAt(0) >> 5 === 3;

/** The bit for the row type of a key. Upper-case letters and non-ASCII types share bits with other types. */
const kindBit = (key: string): number => 1 << (key.charCodeAt(0) & 31);
