/**
 * A single stream of chain and mempool events for the notification channels. Order: each event is reported in the event loop
 * turn in which it happens. So the events are in commit order, and no event can be lost. The order within one step of the
 * chain is: the disconnected blocks from the tip down, the connected blocks, the transactions that return to the mempool,
 * and the new tip. Transactions that leave the mempool because of a block are reported before this block. A listener that
 * cannot deliver immediately has its own bounded queue. The chain waits for the listener's own work, but not for the
 * listener's subscribers.
 */
import type { Chain } from '../../chain/chain.js';
import type { ChainEventMap } from '../../chain/chainEvents.js';
import type { Mempool, MempoolListener } from '../../mempool/mempool.js';
import type { MempoolEntry } from '../../mempool/mempoolReader.js';
import type { ShownMetadata } from '../../rpc/format/claimMetadata.js';
import type { Logger } from '../../util/logging.js';
import { BlockNotice } from './blockNotice.js';

export type AddedTransaction = readonly [entry: MempoolEntry, bytes: Buffer];
export type RemovedTransaction = Parameters<Required<MempoolListener>['removed']>;
export type TipNotice = ChainEventMap['tipChanged'];

/** Listener of the event stream. An exception of a listener is logged and does not affect the others. */
export interface NotificationListener {
  /** Called when a block was connected or disconnected. The block includes its transactions and claims. */
  blockChanged?(block: BlockNotice): void;
  /** Called when the tip has changed. The block of the new tip was reported before, except when blocks were only disconnected. */
  tipChanged?(tip: TipNotice): void;
  transactionAdded?(...added: AddedTransaction): void;
  transactionRemoved?(...removed: RemovedTransaction): void;
  /** Resolves when the listener's own work is done. Does not wait for the listener's subscribers. */
  settled?(): Promise<void>;
}

export interface NotificationSource {
  readonly chain: Pick<Chain, 'afterStep' | 'describesConnected' | 'describesDisconnected' | 'events'>;
  readonly mempool: Pick<Mempool, 'listen'>;
}

/** The subscription interface for listeners. */
export interface NotificationFeed {
  /** Adds a listener. The returned function removes it. */
  listen(listener: NotificationListener): () => void;
}

export class NotificationStream implements NotificationFeed {
  private readonly listeners = new Set<NotificationListener>();
  private readonly tellsClaims: boolean;
  private readonly log: Logger;
  private readonly metadata: ShownMetadata | null;

  /**
   * `tellsClaims`: whether blocks include their claim events. `metadata` decodes the content of claims, if
   * notifications include it.
   */
  constructor(tellsClaims: boolean, log: Logger, metadata: ShownMetadata | null = null) {
    this.tellsClaims = tellsClaims;
    this.log = log;
    this.metadata = metadata;
  }

  /** Starts to follow the chain and the mempool. */
  follow({ chain, mempool }: NotificationSource): void {
    chain.describesConnected ||= this.tellsClaims;
    chain.describesDisconnected ||= this.tellsClaims;
    chain.events.on('blockDisconnected', (block) => {
      const notice = new BlockNotice(block, false, this.metadata);
      this.tell((listener) => listener.blockChanged?.(notice));
    });
    chain.events.on('blockConnected', (block) => {
      const notice = new BlockNotice(block, true, this.metadata);
      this.tell((listener) => listener.blockChanged?.(notice));
    });
    chain.events.on('tipChanged', (tip) => this.tell((listener) => listener.tipChanged?.(tip)));
    chain.afterStep.push(async () => {
      for (const listener of this.listeners) await listener.settled?.();
    });
    mempool.listen({
      added: (entry, bytes) => this.tell((listener) => listener.transactionAdded?.(entry, bytes)),
      removed: (...removed) => this.tell((listener) => listener.transactionRemoved?.(...removed)),
    });
  }

  listen(listener: NotificationListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private tell(call: (listener: NotificationListener) => void): void {
    for (const listener of this.listeners) {
      try {
        call(listener);
      } catch (error) {
        this.log.error(
          `A notification failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        );
      }
    }
  }
}
