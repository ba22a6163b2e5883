/**
 * JavaScript fallback of the addon's memtable. Hash tables map keys to values, which are packed outside the JavaScript heap.
 * A second list contains the keys for ordered iteration.
 */
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { changesOf, RecordWriter } from '../rows/rowRecords.js';
import type { RowRange } from '../rows/rows.js';
import type { Memtable } from './memtable.js';
import { SortedKeys } from './sortedKeys.js';
import { ValueArena } from './valueArena.js';

/**
 * Estimated memory in bytes of a key besides its characters: the string header, and its slots in the hash table and the
 * sorted list.
 */
const KEY_OVERHEAD_BYTES = 80;

/** Value that marks a deletion in the hash table. Other values are positions in the arena. */
const DELETED = -1;

/** Number of hash tables for each row type. One Map is limited to some 16 million entries, and growing a large Map takes long. */
const TABLES_PER_KIND = 8;
const KINDS = 256;

export class MemtableFallback implements Memtable {
  /** Hash tables by the first byte of the key (the row type) and by a byte in the middle of the key. */
  private readonly tables = new Array<Map<string, number> | null>(KINDS * TABLES_PER_KIND).fill(null);
  private readonly values = new ValueArena();
  private readonly order = new SortedKeys();
  private keyBytes = 0;
  private rows = 0;
  private changeCount = 0;
  /** Row types of `declareNew`, and the keys of rows of these types that were added. */
  private newKinds = '';
  private readonly newKeys = new Set<string>();

  get sizeBytes(): number {
    return this.keyBytes + this.values.usedBytes;
  }

  get count(): number {
    return this.rows;
  }

  private tableOf(key: string): Map<string, number> {
    // An empty key has no first byte. `| 0` assigns it to table 0.
    const at =
      (key.charCodeAt(0) | 0) * TABLES_PER_KIND + ((key.charCodeAt(key.length >>> 1) % TABLES_PER_KIND) | 0);
    return (this.tables[at] ??= new Map());
  }

  get(key: string): Bytes | null | undefined {
    const place = this.tableOf(key).get(key);
    if (place === undefined) return undefined;
    return place === DELETED ? null : Buffer.from(this.values.view(place));
  }

  set(key: string, value: Bytes | null): void {
    const table = this.tableOf(key);
    const before = table.get(key);
    const place = this.store(before ?? DELETED, value);
    if (place !== before) table.set(key, place);
    if (before !== undefined) return;
    if (value !== null && key !== '' && this.newKinds.includes(key.charAt(0))) this.newKeys.add(key);
    this.keyBytes += KEY_OVERHEAD_BYTES + key.length;
    this.rows++;
    this.order.add(key);
  }

  declareNew(kinds: string): void {
    this.newKinds += kinds;
  }

  get changes(): number {
    return this.changeCount;
  }

  change(changes: () => void): void {
    this.changeCount++;
    changes();
  }

  share(): null {
    return null;
  }

  addRecords(records: Buffer): void {
    for (const [key, value] of changesOf(records)) this.set(toLatin1(key), value);
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
    this.order.clear();
    this.newKeys.clear();
    this.keyBytes = 0;
    this.rows = 0;
  }

  *records(maxBytes: number): Generator<Buffer> {
    const records = new RecordWriter();
    for (const table of this.tables) {
      if (table === null) continue;
      for (const [key, place] of table) {
        if (place === DELETED && this.newKeys.has(key)) continue;
        records.add(key, place === DELETED ? null : this.values.view(place));
        if (records.sizeBytes >= maxBytes) yield records.take();
      }
    }
    if (records.sizeBytes > 0) yield records.take();
  }

  slice({ gte, lt, reverse = false, limit = Infinity }: RowRange): [string, Bytes | null][] {
    const keys = this.order.between(gte, lt);
    const found: [string, Bytes | null][] = [];
    for (let at = 0, rows = 0; at < keys.length && rows < limit; at++) {
      const key = keys.at(reverse ? -1 - at : at)!;
      const value = this.get(key)!;
      found.push([key, value]);
      if (value !== null) rows++;
    }
    return reverse ? found.reverse() : found;
  }
}
