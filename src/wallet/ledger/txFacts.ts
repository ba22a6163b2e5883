/**
 * A transaction with the derived data that the ledger needs to add it. Each value is computed once. For a block with many
 * transactions the values are computed in advance (`Ledger.prepare`).
 */
import { formatTransaction, txid, type Transaction } from '../../primitives/transaction.js';
import { toLatin1 } from '../../util/bytes.js';
import type { Entry, TxSummary } from './entry.js';

export class WalletTxFacts {
  readonly tx: Transaction;
  private raw: Buffer | null;
  private id: string | null = null;
  /**
   * The summary of the transaction, and the revision of the wallet's keys and scripts for which it was computed
   * (`LedgerPort.mineRevision`).
   */
  private known: { readonly summary: TxSummary; readonly revision: number } | null = null;
  /** The serialized transaction with its witness, as the row of an entry contains it. */
  stored: { readonly entry: Entry; readonly bytes: Buffer } | null = null;

  /** `raw`: the serialized transaction with witness, if the caller has it. */
  constructor(tx: Transaction, raw: Buffer | null = null) {
    this.tx = tx;
    this.raw = raw;
  }

  /** Transaction id in wire order, as latin1. */
  get key(): string {
    return (this.id ??= toLatin1(txid(this.tx)));
  }

  get bytes(): Buffer {
    return (this.raw ??= formatTransaction(this.tx));
  }

  /** The summary of the transaction for the keys and scripts of `revision`. `read` computes it. */
  summary(revision: number, read: (bytes: Buffer) => TxSummary): TxSummary {
    if (this.known?.revision !== revision) this.known = { summary: read(this.bytes), revision };
    return this.known.summary;
  }
}
