/**
 * An event for WebSocket clients, shared by all clients. The messages for a client are created as fast as the client reads
 * them, so that the text of a large block is never in memory as a whole.
 */
import { hashToHex } from '../util/bytes.js';
import { stringifyJson } from '../util/json/jsonStream.js';
import type { BlockNotice } from './notifications/blockNotice.js';
import type { TipNotice } from './notifications/stream.js';
import type { WalletNotice } from './notifications/walletNotice.js';
import { TransactionNotice } from './notifications/transactionNotice.js';
import { wantsClaim, wantsTransaction, type Subscription } from './webSocketSubscription.js';

/** Estimated memory of an event in bytes, without the block or transaction bytes that it refers to. */
const EVENT_BYTES = 1024;

/** Subscriptions of a client by number. Subscriptions that are newer than the event are left out. */
export type Subscriptions = Iterable<readonly [id: number, subscription: Subscription]>;

export interface ClientEvent {
  /** Memory in bytes that the event uses while it is queued. */
  readonly sizeBytes: number;
  /**
   * Whether the event may have messages for these subscriptions. Runs only cheap checks, so true does not guarantee a
   * message.
   */
  concerns(subscriptions: Subscriptions): boolean;
  messages(subscriptions: () => Subscriptions): Generator<string>;
}

type MessageType = 'block' | 'tip' | 'transaction' | 'claim' | 'wallet';

function envelope(ids: readonly number[], type: MessageType, json: string): string {
  return `{"subscriptions":[${ids.join()}],"type":"${type}","data":${json}}`;
}

function idsOf(subscriptions: Subscriptions, wants: (subscription: Subscription) => boolean): number[] {
  const ids: number[] = [];
  for (const [id, subscription] of subscriptions) if (wants(subscription)) ids.push(id);
  return ids;
}

const wantsBlocks = ({ topic }: Subscription): boolean => topic === 'blocks';

/** Cache of the transaction notices of the latest block. All clients that have received the earlier blocks share it. */
class BlockNoticeCache {
  private block: BlockNotice | null = null;
  private notices: (TransactionNotice | undefined)[] = [];

  get(block: BlockNotice, tx: number): TransactionNotice {
    if (this.block !== block) return TransactionNotice.ofBlock(block, tx);
    return (this.notices[tx] ??= TransactionNotice.ofBlock(block, tx));
  }

  begin(block: BlockNotice | null): void {
    this.block = block;
    this.notices = [];
  }
}

/** Creates the events of one endpoint. */
export class ClientEvents {
  private readonly cache = new BlockNoticeCache();

  block(block: BlockNotice): ClientEvent {
    this.cache.begin(block);
    const { cache } = this;
    return {
      sizeBytes: EVENT_BYTES + block.raw.length,
      concerns(subscriptions) {
        for (const [, subscription] of subscriptions) {
          if (subscription.topic === 'wallet') continue;
          if (subscription.topic !== 'claims') return true;
          if (block.claims.some((claim) => wantsClaim(subscription, claim))) return true;
        }
        return false;
      },
      *messages(subscriptions) {
        const blocks = idsOf(subscriptions(), wantsBlocks);
        if (blocks.length > 0) yield envelope(blocks, 'block', block.json);
        for (const tx of block.transactions()) {
          if (idsOf(subscriptions(), ({ topic }) => topic === 'transactions').length === 0) break;
          yield* transactionMessages(cache.get(block, tx), subscriptions());
        }
        for (const [, { topic }] of subscriptions()) {
          if (topic === 'claims') return yield* claimMessages(block, subscriptions);
        }
      },
    };
  }

  tip({ hash, height, initialDownload }: TipNotice): ClientEvent {
    return {
      sizeBytes: EVENT_BYTES,
      concerns: (subscriptions) => idsOf(subscriptions, wantsBlocks).length > 0,
      *messages(subscriptions) {
        const ids = idsOf(subscriptions(), wantsBlocks);
        const tip = { hash: hashToHex(hash), height, initialblockdownload: initialDownload };
        if (ids.length > 0) yield envelope(ids, 'tip', stringifyJson(tip));
      },
    };
  }

  transaction(transaction: TransactionNotice): ClientEvent {
    return {
      sizeBytes: EVENT_BYTES + transaction.sizeBytes,
      concerns(subscriptions) {
        for (const [, subscription] of subscriptions) {
          if (subscription.topic === 'transactions' && wantsTransaction(subscription, transaction))
            return true;
        }
        return false;
      },
      messages: (subscriptions) => transactionMessages(transaction, subscriptions()),
    };
  }

  wallet({ wallet, depth, json }: WalletNotice): ClientEvent {
    const wants = (one: Subscription): boolean =>
      one.topic === 'wallet' && one.wallet === wallet && depth <= one.confirmations;
    return {
      sizeBytes: EVENT_BYTES,
      concerns: (subscriptions) => idsOf(subscriptions, wants).length > 0,
      *messages(subscriptions) {
        const ids = idsOf(subscriptions(), wants);
        if (ids.length > 0) yield envelope(ids, 'wallet', json);
      },
    };
  }

  /** Clears the cache of the latest block's transactions. */
  clear(): void {
    this.cache.begin(null);
  }
}

/** Creates one message for subscribers that requested the serialized transaction, and one message for the other subscribers. */
function* transactionMessages(
  transaction: TransactionNotice,
  subscriptions: Subscriptions,
): Generator<string> {
  const plain: number[] = [];
  const withHex: number[] = [];
  for (const [id, subscription] of subscriptions) {
    if (subscription.topic !== 'transactions' || !wantsTransaction(subscription, transaction)) continue;
    (subscription.hex ? withHex : plain).push(id);
  }
  if (plain.length > 0) yield envelope(plain, 'transaction', transaction.json);
  if (withHex.length > 0) yield envelope(withHex, 'transaction', transaction.jsonWithHex);
}

function* claimMessages(block: BlockNotice, subscriptions: () => Subscriptions): Generator<string> {
  for (const claim of block.claims) {
    const ids = idsOf(
      subscriptions(),
      (subscription) => subscription.topic === 'claims' && wantsClaim(subscription, claim),
    );
    if (ids.length > 0) yield envelope(ids, 'claim', claim.json);
  }
}
