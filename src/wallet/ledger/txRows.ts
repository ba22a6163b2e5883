/**
 * Access to the rows of a wallet's transactions. Reads rows from disk, or from batches that are not written yet. Adds
 * changed rows to a batch.
 */
import { parseTransaction, type Transaction } from '../../primitives/transaction.js';
import { assert } from '../../util/assert.js';
import { fromLatin1, type Bytes } from '../../util/bytes.js';
import { Reader } from '../../util/reader.js';
import { recordKey, type WalletBatch } from '../store/records.js';
import type { Entry } from './entry.js';
import type { LedgerPort } from './ledgerPort.js';
import { formatTxRow, parseTxRecord, txRecordKey, type TxRecord } from './txRecord.js';

/** Length of the row type in the key of a transaction row. The transaction id follows. */
const TX_KIND_CHARS = recordKey('tx').length;

export class TxRows {
  private readonly port: Pick<LedgerPort, 'readRow'>;
  /** Changed rows that have not been written to disk yet, by transaction id. */
  private readonly written = new Map<string, Buffer>();

  constructor(port: Pick<LedgerPort, 'readRow'>) {
    this.port = port;
  }

  /** The bytes of an entry's row, which start with the transaction. */
  bytes({ key }: Entry): Buffer {
    return this.rowBytes(key);
  }

  /** The bytes of the row with this transaction id, which start with the transaction. */
  rowBytes(key: string): Buffer {
    const row = this.find(key);
    assert(row, 'a transaction of the wallet has no row');
    return row;
  }

  find(key: string): Buffer | undefined {
    return this.written.get(key) ?? this.port.readRow(txRecordKey(fromLatin1(key)));
  }

  /** Returns the whole record of a transaction, including the transaction itself. */
  record(entry: Entry): TxRecord {
    return { ...entry.row, tx: this.transaction(entry) };
  }

  transaction(entry: Entry): Transaction {
    return parseTxRecord(this.bytes(entry)).tx;
  }

  /** The serialized transaction in a row, including its witness. */
  txBytes(entry: Entry): Buffer {
    const bytes = this.bytes(entry);
    const reader = new Reader(bytes);
    parseTransaction(reader);
    return bytes.subarray(0, reader.offset);
  }

  /** Adds an entry's row to a batch. `tx`: the serialized transaction, if the caller has it. */
  write(batch: WalletBatch, entry: Entry, tx: Bytes = this.txBytes(entry)): void {
    const row = formatTxRow(tx, entry.row);
    batch.put(txRecordKey(fromLatin1(entry.key)), row);
    this.written.set(entry.key, row);
  }

  remove(batch: WalletBatch, { key }: Entry): void {
    this.written.delete(key);
    batch.del(txRecordKey(fromLatin1(key)));
  }

  /** Must be called when a batch was written. The rows of the batch can then be read from disk. */
  committed({ changes }: WalletBatch): void {
    for (const [key, value] of changes) {
      const txKey = String(key).slice(TX_KIND_CHARS);
      if (value !== null && this.written.get(txKey) === value) this.written.delete(txKey);
    }
  }
}
