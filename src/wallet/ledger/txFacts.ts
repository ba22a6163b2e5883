/**
 * A transaction with what taking it in asks of it, each worked out once: where a block has many, ahead of taking them in
 * (`Ledger.prepare`). Owns no rule.
 */
import { formatTransaction, txid, type Transaction } from '../../primitives/transaction.js';
import { toLatin1 } from '../../util/bytes.js';
import type { Entry, TxSummary } from './entry.js';

export class TxFacts {
  readonly tx: Transaction;
  private raw: Buffer | null;
  private id: string | null = null;
  /** The summary, and which keys and scripts it was told by (`LedgerPort.mineRevision`). */
  private known: { readonly summary: TxSummary; readonly revision: number } | null = null;
  /** The transaction as an entry's row has it, with its witness. */
  stored: { readonly entry: Entry; readonly bytes: Buffer } | null = null;

  /** `raw`: its bytes with witness, where they are at hand. */
  constructor(tx: Transaction, raw: Buffer | null = null) {
    this.tx = tx;
    this.raw = raw;
  }

  /** Its id in wire order, a byte a character. */
  get key(): string {
    return (this.id ??= toLatin1(txid(this.tx)));
  }

  get bytes(): Buffer {
    return (this.raw ??= formatTransaction(this.tx));
  }

  /** What the ledger holds of it, in the form of `read` for keys and scripts of that revision. */
  summary(revision: number, read: (bytes: Buffer) => TxSummary): TxSummary {
    if (this.known?.revision !== revision) this.known = { summary: read(this.bytes), revision };
    return this.known.summary;
  }
}
