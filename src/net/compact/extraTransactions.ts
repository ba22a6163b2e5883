/**
 * The latest transactions that are not in the mempool but may be in a block: orphans, rejected and replaced ones.
 * `-blockreconstructionextratxn` limits their number. Source: Core net_processing.cpp `vExtraTxnForCompact`,
 * `AddToCompactExtraTransactions`.
 */
import type { Candidate } from './compactBlock.js';

export class ExtraTransactions {
  private readonly capacity: number;
  private readonly ring: Candidate[] = [];
  private next = 0;

  constructor(options: { capacity: number }) {
    this.capacity = options.capacity;
  }

  /**
   * Adds a transaction, and removes the oldest transaction if the limit is exceeded. `bytes` (serialized with witness) are
   * not copied.
   */
  add(transaction: Candidate): void {
    if (this.capacity <= 0) return;
    this.ring[this.next] = transaction;
    this.next = (this.next + 1) % this.capacity;
  }

  all(): readonly Candidate[] {
    return this.ring;
  }
}
