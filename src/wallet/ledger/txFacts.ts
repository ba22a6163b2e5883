/**
 * A transaction with the derived data that the ledger needs to add it. Each value is computed once; for a block with many
 * transactions in advance (`Ledger.prepare`).
 */
import { formatTransaction, txid, type Transaction } from '../../primitives/transaction.js';
import { toLatin1 } from '../../util/bytes.js';
import type { Entry, TxSummary } from './entry.js';

export class TxFacts {
  readonly tx: Transaction;
  private raw: Buffer | null;
  private id: string | null = null;
  /** The summary, and the revision of keys and scripts for which it was computed (`LedgerPort.mineRevision`). */
  private known: { readonly summary: TxSummary; readonly revision: number } | null = null;
  /** The serialized transaction from the row of an entry, with its witness. */
  stored: { readonly entry: Entry; readonly bytes: Buffer } | null = null;

  /** `raw`: its serialization with witness, if available. */
  constructor(tx: Transaction, raw: Buffer | null = null) {
    this.tx = tx;
    this.raw = raw;
  }

  /** Its id in wire order, latin1. */
  get key(): string {
    return (this.id ??= toLatin1(txid(this.tx)));
  }

  get bytes(): Buffer {
    return (this.raw ??= formatTransaction(this.tx));
  }

  /** Its summary for the keys and scripts of this revision, computed by `read`. */
  summary(revision: number, read: (bytes: Buffer) => TxSummary): TxSummary {
    if (this.known?.revision !== revision) this.known = { summary: read(this.bytes), revision };
    return this.known.summary;
  }
}
