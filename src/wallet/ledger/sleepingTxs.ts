/**
 * The settled transactions of a wallet that are in columns (`packedTxs.ts`) and not in memory as entries: which there still are, and
 * the entries of those that somebody looks at. While anybody holds an entry, whoever asks gets the same one.
 */
import type { Bytes } from '../../util/bytes.js';
import type { Entry } from './entry.js';
import { PackedEntry, type RowReader } from './packedEntry.js';
import { ID_BYTES, type PackedTxs } from './packedTxs.js';

/** Of so many entries that were asked for it is looked whether anybody still has them. */
const LOOK_AFTER = 1024;

export class SleepingTxs {
  readonly txs: PackedTxs;
  /** How many have not left. */
  size: number;
  /** 1 for those that have left: they are gone, or entries that are kept. */
  private readonly left: Uint8Array;
  private readonly readRow: RowReader;
  private readonly seen = new Map<number, WeakRef<PackedEntry>>();
  private lookAt = LOOK_AFTER;

  constructor(txs: PackedTxs, readRow: RowReader) {
    this.txs = txs;
    this.size = txs.count;
    this.left = new Uint8Array(txs.count);
    this.readRow = readRow;
  }

  has(row: number): boolean {
    return this.left[row] === 0;
  }

  /** The row of a transaction that has not left, by its id; −1 for none. */
  find(key: string): number {
    const row = this.txs.find(key);
    return row >= 0 && this.has(row) ? row : -1;
  }

  get(key: string): PackedEntry | undefined {
    const row = this.find(key);
    return row < 0 ? undefined : this.entry(row, key);
  }

  /** The entry of a row that has not left. */
  entry(row: number, key: string | null = null): PackedEntry {
    const known = this.seen.get(row)?.deref();
    if (known !== undefined) return known;
    const entry = new PackedEntry(this.txs, row, key, this.readRow);
    this.seen.set(row, new WeakRef(entry));
    if (this.seen.size >= this.lookAt) this.forgetUnused();
    return entry;
  }

  private forgetUnused(): void {
    for (const [row, entry] of this.seen) if (entry.deref() === undefined) this.seen.delete(row);
    this.lookAt = Math.max(LOOK_AFTER, 2 * this.seen.size);
  }

  /** The row of an entry that is read from here and has not left, −1 for others. */
  rowOf(entry: Entry): number {
    return entry instanceof PackedEntry && !entry.isKept ? entry.at : -1;
  }

  /** The entry of a row that has not left, which is kept from here on and leaves. */
  leave(row: number): PackedEntry {
    const entry = this.entry(row);
    entry.keep();
    this.drop(row);
    return entry;
  }

  /** A row is gone. */
  drop(row: number): void {
    this.left[row] = 1;
    this.size--;
    this.seen.delete(row);
  }

  /** The entries of some rows that have not left. */
  entries(rows: Iterable<number>): PackedEntry[] {
    const found: PackedEntry[] = [];
    for (const row of rows) if (this.has(row)) found.push(this.entry(row));
    return found;
  }

  *all(): Generator<PackedEntry> {
    for (let row = 0; row < this.txs.count; row++) if (this.has(row)) yield this.entry(row);
  }

  *keys(): Generator<string> {
    for (let row = 0; row < this.txs.count; row++) if (this.has(row)) yield this.txs.key(row);
  }

  /** Whether each is in the block of the active chain in which it was. */
  standsIn(heightOf: (hash: Bytes) => number): boolean {
    const { blocks, blockRows, blockRowStarts, heights } = this.txs.columns;
    for (let block = 0; block * ID_BYTES < blocks.length; block++) {
      const row = blockRows[blockRowStarts[block]!]!;
      if (heightOf(this.txs.blockHash(row)) !== heights[row]) return false;
    }
    return true;
  }
}
