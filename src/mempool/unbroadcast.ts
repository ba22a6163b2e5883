/**
 * Transactions that callers of this node sent and that no peer has requested yet: they are announced again until a peer
 * requests them, they leave the mempool, or too many are waiting. Txids are keys, one character per byte. This class has
 * only the list; the network code decides when to announce. Source: Core 0.21 txmempool.h `m_unbroadcast_txids`.
 */

/**
 * Maximum number of listed transactions. Above it the oldest ones are removed. Source: the maximum number of transactions
 * that are announced to one peer.
 */
const MAX_UNBROADCAST = 50_000;

export class Unbroadcast {
  private readonly waiting = new Set<string>();
  private readonly maxCount: number;

  constructor(maxCount = MAX_UNBROADCAST) {
    this.maxCount = maxCount;
  }

  get size(): number {
    return this.waiting.size;
  }

  add(key: string): void {
    this.waiting.add(key);
    if (this.waiting.size <= this.maxCount) return;
    for (const oldest of this.waiting) {
      this.waiting.delete(oldest);
      return;
    }
  }

  delete(key: string): void {
    this.waiting.delete(key);
  }

  /** Keys of the transactions, sorted from the earliest. */
  keys(): readonly string[] {
    return [...this.waiting];
  }
}
