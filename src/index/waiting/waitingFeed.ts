/**
 * Tracks the claims in the mempool, in the thread that contains the mempool, and sends the added and removed transactions to
 * other threads. Their memory in each thread is limited. Claims above the limit are shown only after they are in a block.
 */
import type { NetworkParams } from '../../params/network.js';
import type { Transaction } from '../../primitives/transaction.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { WaitingClaims } from './waitingClaims.js';
import { readWaiting, waitingBytes, type IndexedTransaction } from './waitingOutputs.js';

export interface WaitingFollower {
  added(transaction: IndexedTransaction): void;
  /** Called when a transaction has left the mempool. `txid` is latin1 in wire order. */
  removed(txid: string): void;
}

export class WaitingFeed {
  readonly claims = new WaitingClaims();
  private readonly params: Pick<NetworkParams, 'base58'>;
  private readonly maxBytes: number;
  private readonly warn: (text: string) => void;
  private readonly followers = new Set<WaitingFollower>();
  private readonly bytesOf = new Map<string, number>();
  private bytes = 0;
  private arrivals = 0;
  private isFull = false;

  /** `maxBytes` limits the memory that mempool claims take in each thread. */
  constructor(
    params: Pick<NetworkParams, 'base58'>,
    maxBytes: number,
    warn: (text: string) => void = () => undefined,
  ) {
    this.params = params;
    this.maxBytes = maxBytes;
    this.warn = warn;
  }

  /**
   * Subscribes a follower to added and removed transactions. Transactions that arrived before the call are in `claims`.
   * Returns the function that ends the subscription.
   */
  follow(follower: WaitingFollower): () => void {
    this.followers.add(follower);
    return () => void this.followers.delete(follower);
  }

  add(
    { txid, entryTimeSec }: { readonly txid: Bytes; readonly entryTimeSec: number },
    tx: Transaction,
    spentScripts: readonly Bytes[],
    spentAmountsSat: readonly bigint[],
  ): void {
    const arrival = ++this.arrivals;
    const arrived = { txid, timeSec: entryTimeSec, arrival, tx, spentScripts, spentAmountsSat };
    const transaction = readWaiting(arrived, this.params);
    if (transaction === null) return;
    const bytes = waitingBytes(transaction);
    if (this.bytes + bytes > this.maxBytes) {
      if (!this.isFull)
        this.warn(
          'The mempool has more claims than searches and resolve can include; the others appear when they are confirmed',
        );
      this.isFull = true;
      return;
    }
    this.bytes += bytes;
    this.bytesOf.set(transaction.txid, bytes);
    this.claims.add(transaction);
    for (const follower of this.followers) follower.added(transaction);
  }

  remove(txid: Bytes): void {
    const key = toLatin1(txid);
    const bytes = this.bytesOf.get(key);
    if (bytes === undefined) return;
    this.bytesOf.delete(key);
    this.bytes -= bytes;
    if (this.bytes < this.maxBytes / 2) this.isFull = false;
    this.claims.remove(key);
    for (const follower of this.followers) follower.removed(key);
  }
}
