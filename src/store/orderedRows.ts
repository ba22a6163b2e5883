/**
 * Rows in memory with a running size; `null` marks a deletion that hides lower layers. `OrderedRows` keeps them sorted
 * (a B-tree) and is for many rows that live long; `KeyedRows` sorts only when somebody walks them and is for the rows of
 * one transaction, which are mostly written once and read by key.
 */
import sortedBTree from 'sorted-btree';
import type { Bytes } from '../util/bytes.js';
import type { RowRange } from './rows.js';

/** The package is CommonJS: Node's import wraps its default export once more, test runners may not. */
const BTree = sortedBTree.default ?? (sortedBTree as unknown as typeof sortedBTree.default);

/** What a row costs in memory besides its bytes: B-tree slot, string and view headers. Measured, rounded up. */
const ROW_OVERHEAD_BYTES = 160;

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export class OrderedRows {
  private readonly tree = new BTree<string, Bytes | null>(undefined, byCodeUnit);
  private bytes = 0;

  get sizeBytes(): number {
    return this.bytes;
  }

  get count(): number {
    return this.tree.size;
  }

  get(key: string): Bytes | null | undefined {
    return this.tree.get(key);
  }

  set(key: string, value: Bytes | null): void {
    const before = this.tree.get(key);
    if (before === undefined) this.bytes += ROW_OVERHEAD_BYTES + key.length;
    else if (before !== null) this.bytes -= before.length;
    if (value !== null) this.bytes += value.length;
    this.tree.set(key, value);
  }

  clear(): void {
    this.tree.clear();
    this.bytes = 0;
  }

  /** All rows in key order. Do not change the tree while iterating. */
  entries(): IterableIterator<[string, Bytes | null]> {
    return this.tree.entries();
  }

  /** Rows within the range in its order, deletions included; a snapshot, so the tree may change meanwhile. */
  slice(range: RowRange): [string, Bytes | null][] {
    const rows: [string, Bytes | null][] = [];
    this.tree.forRange(range.gte, range.lt, false, (key, value) => {
      rows.push([key, value]);
    });
    return range.reverse ? rows.reverse() : rows;
  }
}

export class KeyedRows {
  private readonly rows = new Map<string, Bytes | null>();
  private sorted: string[] | null = null;
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
      this.sorted = null;
    } else if (before !== null) this.bytes -= before.length;
    if (value !== null) this.bytes += value.length;
    this.rows.set(key, value);
  }

  clear(): void {
    this.rows.clear();
    this.sorted = null;
    this.bytes = 0;
  }

  /** All rows, in the order of their first writing. */
  entries(): IterableIterator<[string, Bytes | null]> {
    return this.rows.entries();
  }

  /** As `OrderedRows.slice`; sorts when a key was added since the last time. */
  slice(range: RowRange): [string, Bytes | null][] {
    this.sorted ??= [...this.rows.keys()].sort(byCodeUnit);
    const keys = this.sorted;
    let low = 0;
    for (let high = keys.length; low < high;) {
      const middle = (low + high) >>> 1;
      if (keys[middle]! < range.gte) low = middle + 1;
      else high = middle;
    }
    const found: [string, Bytes | null][] = [];
    for (; low < keys.length && keys[low]! < range.lt; low++)
      found.push([keys[low]!, this.rows.get(keys[low]!) ?? null]);
    return range.reverse ? found.reverse() : found;
  }
}
