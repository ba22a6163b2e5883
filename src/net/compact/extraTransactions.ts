/**
 * Transactions that are in no mempool and may yet be in a block: orphans, refused and replaced ones, the last this many
 * (`-blockreconstructionextratxn`). Source: Core net_processing.cpp `vExtraTxnForCompact`, `AddToCompactExtraTransactions`.
 */
import type { Candidate } from './compactBlock.js';

export class ExtraTransactions {
  private readonly capacity: number;
  private readonly ring: Candidate[] = [];
  private next = 0;

  constructor(options: { capacity: number }) {
    this.capacity = options.capacity;
  }

  /** Keeps a transaction; the oldest goes for it. `bytes` with witness, and kept as they are. */
  add(transaction: Candidate): void {
    if (this.capacity <= 0) return;
    this.ring[this.next] = transaction;
    this.next = (this.next + 1) % this.capacity;
  }

  all(): readonly Candidate[] {
    return this.ring;
  }
}
