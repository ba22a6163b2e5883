/**
 * Requests announced transactions. The first peer that announces a transaction is asked immediately; each other peer that
 * announces it is asked two minutes later if the transaction is still missing. Stores the pending requests; `txReceiver.ts`
 * handles received transactions. Source: Core net.cpp `CNode::AskFor`, net_processing.cpp `ProcessMessage` (inv),
 * `SendMessages`. Deviations: the total number of requests is limited, and each peer gets an equal share when there are
 * many. A transaction that a peer reported as not found may be requested from that peer again.
 */
import type { Chain } from '../../chain/chain.js';
import { fromLatin1, hashToHex, toLatin1, type Bytes } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import { yieldIfDue } from '../../scheduler/peerQueue.js';
import { INV, MAX_INV_ITEMS, type InventoryMessage, type InvItem } from '../inventory.js';
import type { MessageHandler, Peer } from '../messageHandler.js';
import { NODE } from '../services.js';
import { Heap } from './heap.js';
import type { KnownTransactions } from './knownTransactions.js';
import { takesTransactionsFrom, type RelayOptions } from './relayOptions.js';
import { RequestTimes } from './requestTimes.js';

export interface TxRequestsDeps {
  readonly chain: Pick<Chain, 'isInitialDownload' | 'importing'>;
  readonly known: Pick<KnownTransactions, 'alreadyHave'>;
  /** Receives the transactions that a peer announced, which need not be announced back to the peer. */
  readonly announcer: { noteKnown(peer: Peer, txid: Bytes): void };
  readonly localServices: () => bigint;
  readonly nowMs: () => number;
  readonly log: Logger;
}

interface Request {
  readonly dueMs: number;
  /** Sequence number that orders requests with equal due times. */
  readonly order: number;
  readonly type: number;
  readonly key: string;
}

interface PeerRequests {
  /** Pending requests. */
  readonly queue: Heap<Request>;
  /** State by transaction key: false for a queued request, true for a sent request whose transaction was not received. */
  readonly asked: Map<string, boolean>;
}

/** Limits of queued and of all pending requests per peer. Source: `MAPASKFOR_MAX_SZ`, `SETASKFOR_MAX_SZ`. */
const MAX_QUEUED = MAX_INV_ITEMS;
const MAX_ASKED = 2 * MAX_INV_ITEMS;
/** Total number of pending requests, about 150 bytes each, above which each peer is limited to an equal share. Arbitrary. */
const MAX_ASKED_TOTAL = 250_000;
const RETRY_MS = 2 * 60_000;
/** Time in ms that is subtracted from the time of a first request, so that it is sent immediately. */
const HEAD_START_MS = 1000;
const GETDATA_BATCH = 1000;
/** Maximum number of getdata batches per tick, so that one peer cannot take too much time. */
const BATCHES_PER_TICK = 5;

const goesFirst = (a: Request, b: Request): number => a.dueMs - b.dueMs || a.order - b.order;

export class TxRequests implements MessageHandler {
  readonly handlers = {
    inv: (peer: Peer, message: InventoryMessage) => this.onInv(peer, message.items),
    notfound: (peer: Peer, message: InventoryMessage) => this.onNotFound(peer, message.items),
  };
  private readonly options: RelayOptions;
  private readonly deps: TxRequestsDeps;
  private readonly states = new Map<Peer, PeerRequests>();
  private readonly times = new RequestTimes(MAX_INV_ITEMS);
  private askedTotal = 0;
  private lastOrder = 0;

  constructor(options: RelayOptions, deps: TxRequestsDeps) {
    this.options = options;
    this.deps = deps;
  }

  onReady(peer: Peer): void {
    this.states.set(peer, { queue: new Heap(goesFirst), asked: new Map() });
  }

  onGone(peer: Peer): void {
    this.askedTotal -= this.states.get(peer)?.asked.size ?? 0;
    this.states.delete(peer);
  }

  /** Queues announced transactions. Other handlers process block announcements and punish messages with too many items. */
  private async onInv(peer: Peer, items: readonly InvItem[]): Promise<void> {
    if (items.length > MAX_INV_ITEMS) return;
    const { announcer, log } = this.deps;
    const isWelcome = takesTransactionsFrom(this.options, peer);
    let since = performance.now();
    for (const { type, hash } of items) {
      if (type !== INV.tx && type !== INV.witnessTx) continue;
      announcer.noteKnown(peer, hash);
      if (isWelcome) this.considerAnnounced(peer, hash);
      else
        log.debug(
          'net',
          () => `transaction (${hashToHex(hash)}) inv sent in violation of protocol peer=${peer.id}`,
        );
      since = await yieldIfDue(since, peer);
      if (peer.isGone) return;
    }
  }

  private considerAnnounced(peer: Peer, txid: Buffer): void {
    const { chain, known, log } = this.deps;
    const have = known.alreadyHave(txid);
    log.debug('net', () => `got inv: tx ${hashToHex(txid)}  ${have ? 'have' : 'new'} peer=${peer.id}`);
    if (!have && !chain.importing && !chain.isInitialDownload()) this.request(peer, txid);
  }

  /** Queues a request to the peer for a transaction. Does nothing if the request is already queued or the queue is full. */
  request(peer: Peer, txid: Bytes): void {
    const state = this.states.get(peer);
    if (!state || this.isFull(state)) return;
    const key = toLatin1(txid);
    if (state.asked.has(key)) return;
    state.asked.set(key, false);
    this.askedTotal++;
    const firstMs = this.deps.nowMs() - HEAD_START_MS;
    const lastMs = this.times.get(key);
    const dueMs = lastMs === undefined ? firstMs : Math.max(lastMs + RETRY_MS, firstMs);
    this.times.set(key, dueMs);
    state.queue.push({ dueMs, order: this.lastOrder++, type: this.typeFor(peer), key });
  }

  private isFull({ queue, asked }: PeerRequests): boolean {
    if (queue.size >= MAX_QUEUED || asked.size >= MAX_ASKED) return true;
    return this.askedTotal >= MAX_ASKED_TOTAL && asked.size >= MAX_ASKED_TOTAL / this.states.size;
  }

  /** Returns the inventory type of a request to the peer. The witness is requested if both this node and the peer support it. */
  private typeFor(peer: Peer): number {
    const both = this.deps.localServices() & peer.version!.services;
    return (both & NODE.witness) !== 0n ? INV.witnessTx : INV.tx;
  }

  /** Updates the requests after a transaction was received, whether it was requested or not. */
  noteReceived(peer: Peer, txid: Bytes): void {
    const key = toLatin1(txid);
    this.times.delete(key);
    this.noteAnswered(peer, key);
  }

  /**
   * Ends a sent request of the peer. A queued request that was not sent stays in the queue, so that the count of the queue
   * stays correct.
   */
  private noteAnswered(peer: Peer, key: string): void {
    const state = this.states.get(peer);
    if (state?.asked.get(key) === true) this.forget(state, key);
  }

  private forget({ asked }: PeerRequests, key: string): void {
    if (asked.delete(key)) this.askedTotal--;
  }

  private onNotFound(peer: Peer, items: readonly InvItem[]): void {
    for (const { type, hash } of items) {
      if (type === INV.tx || type === INV.witnessTx) this.noteAnswered(peer, toLatin1(hash));
    }
  }

  onTick(peer: Peer, nowMs: number): void {
    const state = this.states.get(peer);
    if (!state) return;
    for (let batch = 0; batch < BATCHES_PER_TICK && !peer.isSendFull; batch++) {
      const items = this.takeDue(peer, state, nowMs);
      if (items.length > 0) peer.send('getdata', { items });
      if (items.length < GETDATA_BATCH) return;
    }
  }

  private takeDue(peer: Peer, state: PeerRequests, nowMs: number): InvItem[] {
    const { known, log } = this.deps;
    const { queue, asked } = state;
    const items: InvItem[] = [];
    for (let looked = 0; looked < GETDATA_BATCH; looked++) {
      const next = queue.peek();
      if (next === undefined || next.dueMs > nowMs) break;
      queue.pop();
      const hash = fromLatin1(next.key);
      if (known.alreadyHave(hash)) {
        this.forget(state, next.key);
        continue;
      }
      asked.set(next.key, true);
      log.debug('net', () => `Requesting tx ${hashToHex(hash)} peer=${peer.id}`);
      items.push({ type: next.type, hash });
    }
    return items;
  }

  /** Number of pending requests of all peers, and number of stored request times. */
  get sizes(): { asked: number; times: number } {
    return { asked: this.askedTotal, times: this.times.size };
  }
}
