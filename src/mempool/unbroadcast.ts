/**
 * Transactions that callers of this node sent and that no peer has asked for yet: they are announced again until one
 * does, they leave the mempool, or too many are waiting. Ids as keys, a byte a character. Owns the list; when they are
 * announced is the network's business. Source: Core 0.21 txmempool.h `m_unbroadcast_txids`.
 */

/** As many as are announced to a peer; beyond it the oldest are dropped. */
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

  /** The earliest first. */
  keys(): readonly string[] {
    return [...this.waiting];
  }
}
