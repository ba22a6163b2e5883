/**
 * Rows in memory, found by their key, with a running size: hash tables of keys over values packed outside the JavaScript
 * heap, for many rows that live long. `null` marks a deletion. Knows no order.
 */
import type { Bytes } from '../util/bytes.js';
import { ValueArena } from './valueArena.js';

/** What a key costs in memory besides its bytes: the string's head, its place in the hash table and in an order. */
const KEY_OVERHEAD_BYTES = 80;

/** Stands for the place of a value in a row that marks a deletion. */
const DELETED = -1;

/** Hash tables per kind of row: the language bounds one at some 16 million entries, and doubling a large one takes long. */
const TABLES_PER_KIND = 8;
const KINDS = 256;

export class RowTable {
  /** By the first byte of the key, which says what kind of row it is, and by one of its middle. */
  private readonly tables = new Array<Map<string, number> | null>(KINDS * TABLES_PER_KIND).fill(null);
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

  /** A copy of the value, the caller's own; null for a deletion, undefined when nothing is known of the key. */
  get(key: string): Bytes | null | undefined {
    const place = this.tableOf(key).get(key);
    if (place === undefined) return undefined;
    return place === DELETED ? null : Buffer.from(this.values.view(place));
  }

  /** True when nothing was known of the key. */
  set(key: string, value: Bytes | null): boolean {
    const table = this.tableOf(key);
    const before = table.get(key);
    const place = this.store(before ?? DELETED, value);
    if (place !== before) table.set(key, place);
    if (before !== undefined) return false;
    this.keyBytes += KEY_OVERHEAD_BYTES + key.length;
    this.rows++;
    return true;
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
}
