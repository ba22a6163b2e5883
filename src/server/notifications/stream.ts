/**
 * One stream of what happens to chain and mempool, for those that tell others of it. Owns only the listeners.
 *
 * Order: everything is told in the turn in which it happened, so that the order of telling is that of commits and nothing
 * is in between to be lost. Of a step of the chain that is: each disconnected block, the tip first, then each connected
 * one, each after what the mempool lost to it, then what the mempool got back of disconnected blocks, then the new tip. A
 * listener that cannot deliver at once keeps a bounded queue of its own: the chain waits for its work, but not for its
 * subscribers.
 */
import type { Chain } from '../../chain/chain.js';
import type { ChainEventMap } from '../../chain/chainEvents.js';
import type { Mempool, MempoolListener } from '../../mempool/mempool.js';
import type { MempoolEntry } from '../../mempool/mempoolReader.js';
import type { ClaimMetadata } from '../../rpc/format/claimMetadata.js';
import type { Logger } from '../../util/logging.js';
import { BlockNotice } from './blockNotice.js';

export type AddedTransaction = readonly [entry: MempoolEntry, bytes: Buffer];
export type RemovedTransaction = Parameters<Required<MempoolListener>['removed']>;
export type TipNotice = ChainEventMap['tipChanged'];

/** What throws is logged and compared with no other caller. */
export interface NotificationListener {
  /** A block was connected or disconnected, and with it its transactions and claims. */
  blockChanged?(block: BlockNotice): void;
  /** The chain is at a new tip; the block was reported before, unless blocks were only disconnected. */
  tipChanged?(tip: TipNotice): void;
  transactionAdded?(...added: AddedTransaction): void;
  transactionRemoved?(...removed: RemovedTransaction): void;
  /** Resolves when its own work on what it was told is done; it waits for no one else. */
  settled?(): Promise<void>;
}

export interface NotificationSource {
  readonly chain: Pick<Chain, 'afterStep' | 'describesDisconnected' | 'events'>;
  readonly mempool: Pick<Mempool, 'listen'>;
}

/** Where listeners learn of things. */
export interface NotificationFeed {
  /** The returned function ends it. */
  listen(listener: NotificationListener): () => void;
}

export class NotificationStream implements NotificationFeed {
  private readonly listeners = new Set<NotificationListener>();
  private readonly tellsClaims: boolean;
  private readonly log: Logger;
  private readonly metadata: ClaimMetadata | null;

  /** `tellsClaims`: what disconnected blocks did to claims, too. `metadata` shows what claims say, where that is told. */
  constructor(tellsClaims: boolean, log: Logger, metadata: ClaimMetadata | null = null) {
    this.tellsClaims = tellsClaims;
    this.log = log;
    this.metadata = metadata;
  }

  /** Follows chain and mempool from here on. */
  follow({ chain, mempool }: NotificationSource): void {
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
