/**
 * Rows in memory that can be walked in order; `null` marks a deletion that hides lower layers. `OrderedRows` is a
 * `RowTable` and for many rows that live long; `KeyedRows` keeps values as they were given and is for the rows of one
 * transaction. Both find a row by its key in a hash table and sort keys only when somebody walks them.
 */
import type { Bytes } from '../util/bytes.js';
import type { RowRange } from './rows.js';
import { RowTable } from './rowTable.js';
import { SortedKeys } from './sortedKeys.js';

/** What a row of a transaction costs besides its bytes: as in a table, and the head of the value's view. */
const ROW_OVERHEAD_BYTES = 160;

export class OrderedRows {
  private readonly rows = new RowTable();
  private readonly order = new SortedKeys();

  get sizeBytes(): number {
    return this.rows.sizeBytes;
  }

  get count(): number {
    return this.rows.count;
  }

  /** As `RowTable.get`. */
  get(key: string): Bytes | null | undefined {
    return this.rows.get(key);
  }

  set(key: string, value: Bytes | null): void {
    if (this.rows.set(key, value)) this.order.add(key);
  }

  clear(): void {
    this.rows.clear();
    this.order.clear();
  }

  /** As `RowTable.entries`. */
  entries(): Generator<[string, Bytes | null]> {
    return this.rows.entries();
  }

  /** Rows within the range in its order, deletions included; a snapshot, so the rows may change meanwhile. */
  slice(range: RowRange): [string, Bytes | null][] {
    const rows = this.order.between(range.gte, range.lt).map((key): [string, Bytes | null] => {
      return [key, this.rows.get(key)!];
    });
    return range.reverse ? rows.reverse() : rows;
  }
}

export class KeyedRows {
  private readonly rows = new Map<string, Bytes | null>();
  private readonly order = new SortedKeys();
  private bytes = 0;

  get sizeBytes(): number {
    return this.bytes;
  }

  get(key: string): Bytes | null | undefined {
    return this.rows.get(key);
  }

  set(key: string, value: Bytes | null): void {
    const before = this.rows.get(key);
    if (before === undefined) {
      this.bytes += ROW_OVERHEAD_BYTES + key.length;
      this.order.add(key);
    } else if (before !== null) this.bytes -= before.length;
    if (value !== null) this.bytes += value.length;
    this.rows.set(key, value);
  }

  clear(): void {
    this.rows.clear();
    this.order.clear();
    this.bytes = 0;
  }

  /** All rows, in the order of their first writing. */
  entries(): IterableIterator<[string, Bytes | null]> {
    return this.rows.entries();
  }

  /** As `OrderedRows.slice`. */
  slice(range: RowRange): [string, Bytes | null][] {
    const found = this.order.between(range.gte, range.lt).map((key): [string, Bytes | null] => {
      return [key, this.rows.get(key) ?? null];
    });
    return range.reverse ? found.reverse() : found;
  }
}
