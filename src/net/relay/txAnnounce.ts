/**
 * Announces transactions to peers, with delays and in batches to hide their origin, and serves requests for them. Each peer
 * has a queue of pending announcements and a filter of known transactions. Source: Core net_processing.cpp
 * `RelayTransaction`, `SendMessages` (inventory), `ProcessMessage` (mempool), `ProcessGetData`; net.h `PushInventory`;
 * BIP35.
 *
 * Deviations: the queue of a peer is limited, and a response to `mempool` is split over several turns.
 */
import { feeRateOf } from '../../mempool/feeRate.js';
import type { RelayEntry, RelaySource } from '../../mempool/mempoolReader.js';
import { compareDepthAndScore } from '../../mempool/txPool.js';
import { parseTxView } from '../../primitives/blockView.js';
import { fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import { isPromise, type MaybePromise } from '../../util/maybePromise.js';
import type { RollingBloomFilter } from '../bloom/rollingBloomFilter.js';
import { inTurns } from '../../scheduler/peerQueue.js';
import { INV, type InvItem } from '../inventory.js';
import type { MessageHandler, Peer, RandomSource } from '../messageHandler.js';
import { withoutWitness } from '../rawTransaction.js';
import type { InventoryServer } from '../sync/getData.js';
import type { UploadTarget } from '../sync/uploadTarget.js';
import type { BloomFilters } from './bloomFilters.js';
import type { FeeFilters } from './feeFilters.js';
import { Heap } from './heap.js';
import { poissonNextMs, SharedTimer } from './poisson.js';
import { RelayMemory } from './relayMemory.js';
import { rollingFilter } from './rollingFilter.js';

export interface TxAnnouncerOptions {
  /** Whether a peer may request the whole mempool (`-peerbloomfilters`). */
  readonly servesFilters: boolean;
}

export interface TxAnnouncerDeps {
  readonly mempool: RelaySource;
  readonly filters: Pick<BloomFilters, 'relaysTo' | 'filterOf'>;
  readonly fees: Pick<FeeFilters, 'rateOf'>;
  /** Upload limit of the day (`-maxuploadtarget`). When it is reached, `mempool` requests are not served. */
  readonly uploadTarget: Pick<UploadTarget, 'isReached'>;
  readonly random: RandomSource;
  readonly nowMs: () => number;
  /** Returns the time in seconds by the clock with which the mempool dates its transactions. */
  readonly nowSec: () => number;
}

interface PeerInventory {
  /**
   * Transactions that the peer is known to have. The filter is created when it is first needed, because it uses half a
   * megabyte.
   */
  known: RollingBloomFilter | null;
  readonly toSend: Set<string>;
  nextSendMs: number;
  wantsMempool: boolean;
  /** Response to `mempool` that is being sent, and the number of its entries that were already processed. */
  answer: readonly RelayEntry[];
  answered: number;
  /** Time of the peer's last `mempool` request in seconds; 0 if the peer has sent none. */
  mempoolSec: number;
}

const INBOUND_INTERVAL_MS = 5000;
const OUTBOUND_INTERVAL_MS = 2000;
/**
 * Maximum number of transactions in one batch: seven per second of the interval between batches. Source:
 * `INVENTORY_BROADCAST_MAX`.
 */
const BATCH = 7 * 5;
/** Maximum number of transactions in a peer's queue. Arbitrary: far more than can be announced in an hour. */
const MAX_TO_SEND = 50_000;
/** Number of transactions to which a full queue is reduced. */
const KEPT_TO_SEND = MAX_TO_SEND * 0.9;
/** Size and false positive rate of the filter of known transactions. Source: net.cpp `filterInventoryKnown`. */
const KNOWN_ITEMS = 50_000;
const KNOWN_FALSE_POSITIVE_RATE = 0.000001;
/** Maximum number of mempool transactions processed in one turn of a peer for a `mempool` response. */
const ANSWER_PART = 1000;
/**
 * Maximum number of bytes of transactions that are matched with a peer's filter in one turn. Matching takes some
 * milliseconds in the worst case.
 */
const FILTERED_BYTES = 64 << 10;
const RELAY_MEMORY_BYTES = 64 << 20;

export class TxAnnouncer implements MessageHandler, InventoryServer {
  readonly handlers = { mempool: (peer: Peer) => this.onMempool(peer) };
  private readonly options: TxAnnouncerOptions;
  private readonly deps: TxAnnouncerDeps;
  private readonly states = new Map<Peer, PeerInventory>();
  private readonly inboundTimer: SharedTimer;
  private readonly relayed = new RelayMemory({ maxBytes: RELAY_MEMORY_BYTES });
  /** Cached sorted mempool, valid while the mempool's change count is the same. */
  private ordered: { changeCount: number; entries: MaybePromise<readonly RelayEntry[]> } | null = null;

  constructor(options: TxAnnouncerOptions, deps: TxAnnouncerDeps) {
    this.options = options;
    this.deps = deps;
    this.inboundTimer = new SharedTimer(deps.random);
  }

  onReady(peer: Peer): void {
    this.states.set(peer, {
      known: null,
      toSend: new Set(),
      nextSendMs: 0,
      wantsMempool: false,
      answer: [],
      answered: 0,
      mempoolSec: 0,
    });
  }

  onGone(peer: Peer): void {
    this.states.delete(peer);
    this.forgetOrder();
  }

  /** Queues a mempool transaction for all peers that are not known to have it. */
  announce(txid: Bytes): void {
    const key = toLatin1(txid);
    for (const state of this.states.values()) {
      if (state.known?.contains(txid) === true) continue;
      state.toSend.add(key);
      if (state.toSend.size > MAX_TO_SEND) this.shorten(state.toSend);
    }
  }

  /**
   * Shortens a peer's queue of announcements: removes transactions that left the mempool and then, if the queue is still too
   * long, the oldest entries.
   */
  private shorten(toSend: Set<string>): void {
    for (const key of toSend) if (!this.deps.mempool.hasKey(key)) toSend.delete(key);
    for (const key of toSend) {
      if (toSend.size <= KEPT_TO_SEND) return;
      toSend.delete(key);
    }
  }

  /** Number of transactions that wait to be announced to the peer. */
  pendingCount(peer: Peer): number {
    return this.states.get(peer)?.toSend.size ?? 0;
  }

  /** Records that the peer has the transaction. */
  noteKnown(peer: Peer, txid: Bytes): void {
    const state = this.states.get(peer);
    if (state) this.remember(state, txid);
  }

  private remember(state: PeerInventory, txid: Bytes): void {
    state.known ??= rollingFilter(KNOWN_ITEMS, KNOWN_FALSE_POSITIVE_RATE, this.deps.random);
    state.known.insert(txid);
  }

  private onMempool(peer: Peer): void {
    const state = this.states.get(peer);
    if (!state) return;
    if (!this.options.servesFilters && !peer.isWhitelisted) {
      peer.disconnect('mempool request with bloom filters disabled');
    } else if (this.deps.uploadTarget.isReached && !peer.isWhitelisted) {
      peer.disconnect('mempool request with bandwidth limit reached');
    } else {
      state.wantsMempool = true;
    }
  }

  onTick(peer: Peer, nowMs: number): void {
    const state = this.states.get(peer);
    if (!state) return;
    const items: InvItem[] = [];
    if (this.isTimeToSend(peer, state, nowMs)) {
      if (!this.deps.filters.relaysTo(peer)) state.toSend.clear();
      if (state.wantsMempool) this.beginAnswer(peer, state);
      this.takeBatch(peer, state, nowMs, items);
    }
    if (state.answered < state.answer.length) this.takeAnswer(peer, state, items);
    if (items.length > 0) peer.send('inv', { items });
  }

  private isTimeToSend(peer: Peer, state: PeerInventory, nowMs: number): boolean {
    if (nowMs <= state.nextSendMs) return peer.isWhitelisted;
    state.nextSendMs =
      peer.kind === 'inbound'
        ? this.inboundTimer.next(nowMs, INBOUND_INTERVAL_MS)
        : poissonNextMs(nowMs, OUTBOUND_INTERVAL_MS, this.deps.random);
    return true;
  }

  /** Takes the best transactions from the peer's queue: first those with few ancestors, then those with the highest fee rate. */
  private takeBatch(peer: Peer, state: PeerInventory, nowMs: number, items: InvItem[]): void {
    if (state.toSend.size === 0) return;
    const wants = this.wishesOf(peer);
    const heap = new Heap(compareDepthAndScore, this.entriesToSend(state.toSend));
    let sent = 0;
    let lookedAtBytes = 0;
    while (sent < BATCH && lookedAtBytes < FILTERED_BYTES) {
      const entry = heap.pop();
      if (entry === undefined) return;
      lookedAtBytes += this.filteredBytes(peer, entry);
      state.toSend.delete(entry.key);
      const hash = fromLatin1(entry.key);
      if (state.known?.contains(hash) === true || !wants(entry)) continue;
      items.push({ type: INV.tx, hash });
      this.relayed.add(entry.key, entry.bytes, nowMs);
      this.remember(state, hash);
      sent++;
    }
  }

  /** Returns the queued transactions that are still in the mempool. Removes the other transactions from the queue. */
  private entriesToSend(toSend: Set<string>): RelayEntry[] {
    const entries: RelayEntry[] = [];
    for (const key of toSend) {
      const entry = this.deps.mempool.relayEntry(key);
      if (entry) entries.push(entry);
      else toSend.delete(key);
    }
    return entries;
  }

  /** Returns a predicate: whether a transaction pays the peer's minimum fee rate and matches its bloom filter. */
  private wishesOf(peer: Peer): (entry: RelayEntry) => boolean {
    const rate = this.deps.fees.rateOf(peer);
    const filter = this.deps.filters.filterOf(peer);
    return ({ feeSat, sizeBytes, bytes }) => {
      if (rate !== 0n && feeRateOf(feeSat, sizeBytes) < rate) return false;
      return filter === null || filter.isRelevantAndUpdate(bytes, parseTxView(bytes), 0);
    };
  }

  /** Number of bytes that matching a transaction with the peer's filter has to process; 0 without a filter. */
  private filteredBytes(peer: Peer, { bytes }: RelayEntry): number {
    return this.deps.filters.filterOf(peer) === null ? 0 : bytes.length;
  }

  private beginAnswer(peer: Peer, state: PeerInventory): void {
    state.wantsMempool = false;
    state.mempoolSec = this.deps.nowSec();
    const answer = (entries: readonly RelayEntry[]): void => {
      state.answer = entries;
      state.answered = 0;
    };
    const entries = this.orderFor(peer);
    if (isPromise(entries)) void entries.then(answer);
    else answer(entries);
  }

  /**
   * Returns the sorted mempool. Returns no promise if the mempool is small, or was sorted for another peer and has not
   * changed.
   */
  private orderFor(peer: Peer): MaybePromise<readonly RelayEntry[]> {
    const { mempool } = this.deps;
    const { changeCount } = mempool;
    if (this.ordered?.changeCount === changeCount) return this.ordered.entries;
    const work = mempool.relayEntries();
    const { done, value } = work.next();
    const entries = done === true ? value : inTurns(work, peer);
    this.ordered = { changeCount, entries };
    return entries;
  }

  private takeAnswer(peer: Peer, state: PeerInventory, items: InvItem[]): void {
    const wants = this.wishesOf(peer);
    const { answer, answered } = state;
    const end = Math.min(answer.length, answered + ANSWER_PART);
    let lookedAtBytes = 0;
    while (state.answered < end && lookedAtBytes < FILTERED_BYTES) {
      const entry = answer[state.answered++]!;
      lookedAtBytes += this.filteredBytes(peer, entry);
      state.toSend.delete(entry.key);
      if (!this.deps.mempool.hasKey(entry.key) || !wants(entry)) continue;
      const hash = fromLatin1(entry.key);
      this.remember(state, hash);
      items.push({ type: INV.tx, hash });
    }
    if (state.answered < state.answer.length) return;
    state.answer = [];
    state.answered = 0;
    this.forgetOrder();
  }

  /** Releases the cached sorted mempool if no response uses it. */
  private forgetOrder(): void {
    for (const { answer } of this.states.values()) if (answer.length > 0) return;
    this.ordered = null;
  }

  handles(type: number): boolean {
    return type === INV.tx || type === INV.witnessTx;
  }

  /**
   * Sends a requested transaction if it was recently announced to any peer, or was in the mempool when this peer requested
   * the whole mempool. Returns false if the transaction was not sent.
   */
  serve(peer: Peer, { type, hash }: InvItem): boolean {
    const bytes = this.bytesFor(peer, toLatin1(hash));
    if (bytes === null) return false;
    peer.sendRaw('tx', type === INV.witnessTx ? bytes : withoutWitness(bytes));
    return true;
  }

  private bytesFor(peer: Peer, key: string): Buffer | null {
    const relayed = this.relayed.get(key, this.deps.nowMs());
    if (relayed) return relayed;
    const mempoolSec = this.states.get(peer)?.mempoolSec ?? 0;
    const entry = mempoolSec === 0 ? null : this.deps.mempool.relayEntry(key);
    return entry !== null && entry.timeSec <= mempoolSec ? entry.bytes : null;
  }
}
