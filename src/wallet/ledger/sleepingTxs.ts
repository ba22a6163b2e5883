/**
 * The settled transactions of a wallet that are packed in columns (`packedTxs.ts`) and not loaded as entries, and the entry
 * objects that were created when they were needed. Only one object is created per transaction. Only the most recently read
 * rows stay in memory.
 */
import type { Bytes } from '../../util/bytes.js';
import type { SettledPayments } from '../port.js';
import type { Entry } from './entry.js';
import { PackedEntry, type EntryReader } from './packedEntry.js';
import { HAS_WITNESS, ID_BYTES, IS_FINISHED, type PackedTxs } from './packedTxs.js';

/** Maximum number of recently read rows in memory. Arbitrary: bounds the memory to about a megabyte. */
const MAX_ROWS = 4096;

export class SleepingTxs {
  readonly txs: PackedTxs;
  /** Number of packed transactions that were not removed. */
  size: number;
  /** 1 for each row that is not packed any more, because its transaction was deleted or loaded into memory; otherwise 0. */
  private readonly left: Uint8Array;
  /** Transactions that a block scan may skip. */
  readonly payments: SettledPayments;
  private readonly readRow: EntryReader;
  /** Transaction objects that were created when they were needed, by row. */
  private readonly looked: (PackedEntry | undefined)[];
  /** Ring buffer of the transactions whose rows were read from disk most recently. */
  private readonly withRows: PackedEntry[] = [];
  private nextWithRow = 0;

  /** `readRow`: reads the disk row of a transaction by its id. */
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

  /** Records that the disk row of a transaction is in memory. The oldest recorded transaction discards its row. */
  private noteRow(entry: PackedEntry): void {
    this.withRows[this.nextWithRow]?.forgetRow();
    this.withRows[this.nextWithRow] = entry;
    this.nextWithRow = (this.nextWithRow + 1) % MAX_ROWS;
  }

  has(row: number): boolean {
    return this.left[row] === 0;
  }

  /** Row number of the transaction with this id; −1 if it was removed or is unknown. */
  find(key: string): number {
    const row = this.txs.find(key);
    return row >= 0 && this.has(row) ? row : -1;
  }

  get(key: string): PackedEntry | undefined {
    const row = this.find(key);
    return row < 0 ? undefined : this.entry(row, key);
  }

  /** Returns the transaction object of a row. The row must not be removed. */
  entry(row: number, key: string | null = null): PackedEntry {
    return (this.looked[row] ??= new PackedEntry(this.txs, row, key, this.readRow));
  }

  /** Row number of a transaction; −1 if it is not a packed transaction. */
  rowOf(entry: Entry): number {
    return entry instanceof PackedEntry && !entry.isKept ? entry.at : -1;
  }

  /** Loads the entry of a row into memory, and removes the row from the packed transactions. */
  leave(row: number): PackedEntry {
    const entry = this.entry(row);
    entry.keep();
    this.drop(row);
    return entry;
  }

  /**
   * Must be called when a transaction in memory spends the same output as the transaction of this row. A scan must then not
   * skip it.
   */
  noteRival(row: number): void {
    this.payments.kinds[row] = 0;
  }

  /** Removes a row whose transaction was deleted from the wallet. */
  drop(row: number): void {
    this.left[row] = 1;
    this.payments.kinds[row] = 0;
    this.size--;
    this.looked[row] = undefined;
  }

  /** Transaction objects of those rows that are not removed. */
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

  /** Whether each packed transaction is still in the same block of the active chain. */
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
