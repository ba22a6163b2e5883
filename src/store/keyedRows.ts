/**
 * The rows of one transaction: values as they were given, keys sorted only when somebody walks them. `null` marks a
 * deletion that hides lower layers.
 */
import type { Bytes } from '../util/bytes.js';
import type { KeyRange } from './rowTable.js';
import { SortedKeys } from './sortedKeys.js';

/** What a row costs besides its bytes: the key's head and its place in two tables, and the head of the value's view. */
const ROW_OVERHEAD_BYTES = 160;

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

  /** Rows within the range, deletions included, in ascending order; a snapshot, so the rows may change meanwhile. */
  slice({ gte, lt }: KeyRange): [string, Bytes | null][] {
    return this.order.between(gte, lt).map((key) => [key, this.rows.get(key) ?? null]);
  }
}
