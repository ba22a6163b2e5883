/**
 * The settled transactions of a wallet that are in columns (`packedTxs.ts`) and not in memory as entries, and the entries that were
 * made on access. A second access returns the same entry. Only the most recently read rows stay in memory.
 */
import type { Bytes } from '../../util/bytes.js';
import type { SettledPayments } from '../port.js';
import type { Entry } from './entry.js';
import { PackedEntry, type RowReader } from './packedEntry.js';
import { HAS_WITNESS, ID_BYTES, IS_FINISHED, type PackedTxs } from './packedTxs.js';

/** Number of recently read rows in memory. Arbitrary: about a megabyte. */
const MAX_ROWS = 4096;

export class SleepingTxs {
  readonly txs: PackedTxs;
  /** Number of rows that are still here. */
  size: number;
  /** 1 for removed rows: deleted, or in memory as entries. */
  private readonly left: Uint8Array;
  /** Those that a scan may skip. */
  readonly payments: SettledPayments;
  private readonly readRow: RowReader;
  /** Entries created on access, by row. */
  private readonly looked: (PackedEntry | undefined)[];
  /** Ring buffer of the most recently read rows. */
  private readonly withRows: PackedEntry[] = [];
  private nextWithRow = 0;

  /** `readRow`: reads the row of a transaction by its id. */
  constructor(txs: PackedTxs, readRow: (key: string) => Entry['row']) {
    this.txs = txs;
    this.size = txs.count;
    this.left = new Uint8Array(txs.count);
    this.payments = paymentsOf(txs);
    this.looked = new Array<PackedEntry | undefined>(txs.count);
    this.readRow = (entry) => {
      this.noteRow(entry);
      return readRow(entry.key);
    };
  }

  /** Records that an entry has its row in memory; the oldest such entry drops its row. */
  private noteRow(entry: PackedEntry): void {
    this.withRows[this.nextWithRow]?.forgetRow();
    this.withRows[this.nextWithRow] = entry;
    this.nextWithRow = (this.nextWithRow + 1) % MAX_ROWS;
  }

  has(row: number): boolean {
    return this.left[row] === 0;
  }

  /** The row of a transaction that is still here, by its id; −1 for none. */
  find(key: string): number {
    const row = this.txs.find(key);
    return row >= 0 && this.has(row) ? row : -1;
  }

  get(key: string): PackedEntry | undefined {
    const row = this.find(key);
    return row < 0 ? undefined : this.entry(row, key);
  }

  /** The entry of a row that is still here. */
  entry(row: number, key: string | null = null): PackedEntry {
    return (this.looked[row] ??= new PackedEntry(this.txs, row, key, this.readRow));
  }

  /** The row of an entry that is still here; −1 for others. */
  rowOf(entry: Entry): number {
    return entry instanceof PackedEntry && !entry.isKept ? entry.at : -1;
  }

  /** Loads the entry of a row into memory, and removes the row from here. */
  leave(row: number): PackedEntry {
    const entry = this.entry(row);
    entry.keep();
    this.drop(row);
    return entry;
  }

  /** A transaction in memory spends the same as a row: a scan must look at both. */
  noteRival(row: number): void {
    this.payments.kinds[row] = 0;
  }

  /** Removes a deleted row. */
  drop(row: number): void {
    this.left[row] = 1;
    this.payments.kinds[row] = 0;
    this.size--;
    this.looked[row] = undefined;
  }

  /** Entries of rows that are still in the wallet. */
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

  /** Whether each transaction is still in the same block of the active chain. */
  standsIn(heightOf: (hash: Bytes) => number): boolean {
    const { blocks, blockRows, blockRowStarts, heights } = this.txs.columns;
    for (let block = 0; block * ID_BYTES < blocks.length; block++) {
      const row = blockRows[blockRowStarts[block]!]!;
      if (heightOf(this.txs.blockHash(row)) !== heights[row]) return false;
    }
    return true;
  }
}

function paymentsOf({ columns }: PackedTxs): SettledPayments {
  const { ids, idSlots, blockOf, blocks, places, flags } = columns;
  const kinds = flags.map((flag) => ((flag & IS_FINISHED) === 0 ? 0 : (flag & HAS_WITNESS) === 0 ? 1 : 2));
  return { ids, idSlots, blockOf, blocks, places, kinds };
}
