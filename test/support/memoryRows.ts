/** A row store in memory for tests: sorted, with transactions that can be committed or aborted. */
import type { Bytes } from '../../src/util/bytes.js';
import { KeyedRows } from '../../src/store/rows/keyedRows.js';
import {
  collectRows,
  type RowRange,
  type RowReader,
  type RowTransaction,
} from '../../src/store/rows/rows.js';

export class MemoryRows implements RowReader {
  readonly rows = new KeyedRows();

  async get(key: string): Promise<Bytes | undefined> {
    return this.rows.get(key) ?? undefined;
  }

  async getMany(keys: readonly string[]): Promise<(Bytes | undefined)[]> {
    return keys.map((key) => this.rows.get(key) ?? undefined);
  }

  getRange(range: RowRange): Promise<[string, Bytes][]> {
    return collectRows(this.range(range));
  }

  async *range(range: RowRange): AsyncGenerator<[string, Bytes]> {
    let left = range.limit ?? Infinity;
    const rows = this.rows.slice(range);
    for (const [key, value] of range.reverse ? rows.reverse() : rows) {
      if (value === null) continue;
      if (left-- <= 0) return;
      yield [key, value];
    }
  }

  begin(): MemoryTransaction {
    return new MemoryTransaction(this);
  }

  /** A copy of every row, for comparisons. */
  dump(without = ''): Map<string, string> {
    const copy = new Map<string, string>();
    for (const [key, value] of this.rows.entries()) {
      if (value !== null && !without.includes(key[0]!)) copy.set(key, Buffer.from(value).toString('latin1'));
    }
    return copy;
  }

  /** Number of bytes of keys and values by the first character of the key. */
  sizes(): Record<string, { rows: number; bytes: number }> {
    const sizes: Record<string, { rows: number; bytes: number }> = {};
    for (const [key, value] of this.rows.entries()) {
      if (value === null) continue;
      const size = (sizes[key[0]!] ??= { rows: 0, bytes: 0 });
      size.rows++;
      size.bytes += key.length + value.length;
    }
    return sizes;
  }
}

export class MemoryTransaction implements RowTransaction {
  readonly own = new KeyedRows();
  private readonly store: MemoryRows;

  constructor(store: MemoryRows) {
    this.store = store;
  }

  put(key: string, value: Bytes): void {
    this.own.set(key, value);
  }

  del(key: string): void {
    this.own.set(key, null);
  }

  putRecords(kinds: string, records: Buffer): void {
    this.own.addRecords(kinds, records);
  }

  async relieve(): Promise<void> {}

  private find(key: string): Bytes | undefined {
    const own = this.own.get(key);
    if (own !== undefined) return own ?? undefined;
    return this.store.rows.get(key) ?? undefined;
  }

  async get(key: string): Promise<Bytes | undefined> {
    return this.find(key);
  }

  getBlocking(key: string): Bytes | undefined {
    return this.find(key);
  }

  async getMany(keys: readonly string[]): Promise<(Bytes | undefined)[]> {
    return keys.map((key) => this.find(key));
  }

  getRange(range: RowRange): Promise<[string, Bytes][]> {
    return collectRows(this.range(range));
  }

  async *range(range: RowRange): AsyncGenerator<[string, Bytes]> {
    const merged = new Map<string, Bytes | null>();
    for (const [key, value] of this.store.rows.slice(range)) merged.set(key, value);
    for (const [key, value] of this.own.slice(range)) merged.set(key, value);
    const keys = [...merged.keys()].sort();
    if (range.reverse) keys.reverse();
    let left = range.limit ?? Infinity;
    for (const key of keys) {
      const value = merged.get(key);
      if (!value) continue;
      if (left-- <= 0) return;
      yield [key, value];
    }
  }

  commit(): void {
    for (const [key, value] of this.own.entries()) this.store.rows.set(key, value);
  }
}
