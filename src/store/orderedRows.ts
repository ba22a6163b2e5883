/**
 * Rows in memory with a running size; `null` marks a deletion that hides lower layers. `OrderedRows` packs the values
 * outside the JavaScript heap and is for many rows that live long; `KeyedRows` keeps them as they were given and is for
 * the rows of one transaction. Both find a row by its key in a hash table and sort keys only when somebody walks them.
 */
import type { Bytes } from '../util/bytes.js';
import type { RowRange } from './rows.js';
import { SortedKeys } from './sortedKeys.js';
import { ValueArena } from './valueArena.js';

/** What a key costs in memory besides its bytes: the string's head, its place in the hash table and in the order. */
const KEY_OVERHEAD_BYTES = 80;
/** What a row of a transaction costs besides its bytes: as above, and the head of the value's view. */
const ROW_OVERHEAD_BYTES = 160;

/** Stands for the place of a value in a row that marks a deletion. */
const DELETED = -1;

/** Hash tables per kind of row: the language bounds one at some 16 million entries, and doubling a large one takes long. */
const TABLES_PER_KIND = 8;
const KINDS = 256;

export class OrderedRows {
  /** By the first byte of the key, which says what kind of row it is, and by one of its middle. */
  private readonly tables = new Array<Map<string, number> | null>(KINDS * TABLES_PER_KIND).fill(null);
  private readonly order = new SortedKeys();
  private readonly values = new ValueArena();
  private keyBytes = 0;
  private rows = 0;

  get sizeBytes(): number {
    return this.keyBytes + this.values.usedBytes;
  }

  get count(): number {
    return this.rows;
  }

  private tableOf(key: string): Map<string, number> {
    // An empty key has no first byte, but a place like any other.
    const at =
      (key.charCodeAt(0) | 0) * TABLES_PER_KIND + ((key.charCodeAt(key.length >>> 1) % TABLES_PER_KIND) | 0);
    return (this.tables[at] ??= new Map());
  }

  /** A copy of the value, the caller's own. */
  get(key: string): Bytes | null | undefined {
    const place = this.tableOf(key).get(key);
    return place === undefined ? undefined : this.copy(place);
  }

  private copy(place: number): Bytes | null {
    return place === DELETED ? null : Buffer.from(this.values.view(place));
  }

  set(key: string, value: Bytes | null): void {
    const table = this.tableOf(key);
    const before = table.get(key);
    if (before === undefined) {
      this.keyBytes += KEY_OVERHEAD_BYTES + key.length;
      this.rows++;
      this.order.add(key);
    }
    const place = this.store(before ?? DELETED, value);
    if (place !== before) table.set(key, place);
  }

  private store(before: number, value: Bytes | null): number {
    if (value === null) {
      if (before !== DELETED) this.values.free(before);
      return DELETED;
    }
    return before === DELETED ? this.values.add(value) : this.values.replace(before, value);
  }

  clear(): void {
    this.tables.fill(null);
    this.order.clear();
    this.values.clear();
    this.keyBytes = 0;
    this.rows = 0;
  }

  /**
   * All rows, kind by kind, else in no order: what lies together in a table file is then of few kinds, and looking for
   * a row means looking into few files. The values are views: do not change the rows while iterating, nor keep any.
   */
  *entries(): Generator<[string, Bytes | null]> {
    for (const table of this.tables) {
      if (table === null) continue;
      for (const [key, place] of table) yield [key, place === DELETED ? null : this.values.view(place)];
    }
  }

  /** Rows within the range in its order, deletions included; a snapshot, so the rows may change meanwhile. */
  slice(range: RowRange): [string, Bytes | null][] {
    const rows = this.order.between(range.gte, range.lt).map((key): [string, Bytes | null] => {
      return [key, this.copy(this.tableOf(key).get(key)!)];
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
