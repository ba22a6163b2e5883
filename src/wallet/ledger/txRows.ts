/** The rows of a wallet's transactions: reading what is on disk, or on its way there, and writing them with a batch. */
import type { Transaction } from '../../primitives/transaction.js';
import { assert } from '../../util/assert.js';
import { fromLatin1 } from '../../util/bytes.js';
import { recordKey, type WalletBatch } from '../store/records.js';
import type { Entry } from './entry.js';
import type { LedgerPort } from './ledgerPort.js';
import { formatTxRecord, parseTxRecord, txRecordKey, type TxRecord } from './txRecord.js';

/** Of the key of a row, before the id. */
const TX_KIND_CHARS = recordKey('tx').length;

export class TxRows {
  private readonly port: Pick<LedgerPort, 'readRow'>;
  /** Rows changed since they were last on disk, by id. */
  private readonly written = new Map<string, Buffer>();

  constructor(port: Pick<LedgerPort, 'readRow'>) {
    this.port = port;
  }

  /** The bytes of a row; they begin with the transaction. */
  bytes({ key }: Entry): Buffer {
    const row = this.written.get(key) ?? this.port.readRow(txRecordKey(fromLatin1(key)));
    assert(row, 'a transaction of the wallet has no row');
    return row;
  }

  /** The whole record of an entry, its transaction included. */
  record(entry: Entry): TxRecord {
    return { ...entry.row, tx: this.transaction(entry) };
  }

  transaction(entry: Entry): Transaction {
    return parseTxRecord(this.bytes(entry)).tx;
  }

  write(batch: WalletBatch, entry: Entry, tx: Transaction = this.transaction(entry)): void {
    const row = formatTxRecord({ ...entry.row, tx });
    batch.put(txRecordKey(fromLatin1(entry.key)), row);
    this.written.set(entry.key, row);
  }

  remove(batch: WalletBatch, { key }: Entry): void {
    this.written.delete(key);
    batch.del(txRecordKey(fromLatin1(key)));
  }

  /** What was written with a batch can be read from disk now. */
  committed({ changes }: WalletBatch): void {
    for (const [key, value] of changes) {
      const txKey = String(key).slice(TX_KIND_CHARS);
      if (value !== null && this.written.get(txKey) === value) this.written.delete(txKey);
    }
  }
}
