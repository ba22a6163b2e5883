/**
 * The transactions of disconnected blocks, stored until the new branch is connected. Their memory is limited: above the
 * limit, the transactions that were disconnected first (the latest of the old branch) are removed. Source: Core txmempool.h
 * `DisconnectedBlockTransactions`.
 */
import { txBytes, txidAt } from '../primitives/blockView.js';
import type { ConnectedBlock } from '../chain/chainEvents.js';
import { toLatin1 } from '../util/bytes.js';

/** Source: `MAX_DISCONNECTED_TX_POOL_SIZE`. */
const MAX_BYTES = 20_000_000;
/** Estimated memory in bytes of a stored transaction in addition to its serialized bytes. */
const OVERHEAD_BYTES = 400;

export interface DisconnectedTransaction {
  readonly key: string;
  readonly bytes: Buffer;
}

export class DisconnectedTransactions {
  /** Serialized transactions by txid, in the order of disconnection. The last one is the earliest in the chain. */
  private readonly queue = new Map<string, Buffer>();
  private readonly maxBytes: number;
  private usageBytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.maxBytes = maxBytes;
  }

  get size(): number {
    return this.queue.size;
  }

  /** Adds the transactions of a disconnected block. Returns the transactions that were removed because of the memory limit. */
  add({ raw, parsed }: Pick<ConnectedBlock, 'raw' | 'parsed'>): DisconnectedTransaction[] {
    for (let tx = parsed.txCount - 1; tx >= 0; tx--) {
      const key = toLatin1(txidAt(parsed, tx));
      if (this.queue.has(key)) continue;
      // The bytes are copied, because a view would keep the whole block in memory.
      const bytes = Buffer.from(txBytes(raw, parsed, tx));
      this.queue.set(key, bytes);
      this.usageBytes += bytes.length + OVERHEAD_BYTES;
    }
    const dropped: DisconnectedTransaction[] = [];
    for (const [key, bytes] of this.queue) {
      if (this.usageBytes <= this.maxBytes) break;
      this.drop(key, bytes);
      dropped.push({ key, bytes });
    }
    return dropped;
  }

  /** Removes the transactions that a block of the new branch contains. */
  removeConfirmed({ parsed }: Pick<ConnectedBlock, 'parsed'>): void {
    for (let tx = 0; tx < parsed.txCount && this.queue.size > 0; tx++) {
      const key = toLatin1(txidAt(parsed, tx));
      const bytes = this.queue.get(key);
      if (bytes) this.drop(key, bytes);
    }
  }

  /** Returns all transactions and clears the queue. The first one is the earliest in the chain. */
  take(): DisconnectedTransaction[] {
    const all = [...this.queue].map(([key, bytes]) => ({ key, bytes })).reverse();
    this.queue.clear();
    this.usageBytes = 0;
    return all;
  }

  private drop(key: string, bytes: Buffer): void {
    this.queue.delete(key);
    this.usageBytes -= bytes.length + OVERHEAD_BYTES;
  }
}
