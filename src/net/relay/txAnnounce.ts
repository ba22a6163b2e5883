/**
 * Announces transactions to peers, with delays and in batches to hide their origin, and sends requested ones. Each peer has
 * a queue of pending announcements and a filter of known transactions. Source: Core net_processing.cpp `RelayTransaction`,
 * `SendMessages` (inventory), `ProcessMessage` (mempool), `ProcessGetData`; net.h `PushInventory`; BIP35.
 *
 * Deviations: the queue of a peer is limited, and a response to `mempool` is sent in parts, one for each turn.
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
  /** `-peerbloomfilters`: a peer may request the whole mempool. */
  readonly servesFilters: boolean;
}

export interface TxAnnouncerDeps {
  readonly mempool: RelaySource;
  readonly filters: Pick<BloomFilters, 'relaysTo' | 'filterOf'>;
  readonly fees: Pick<FeeFilters, 'rateOf'>;
  /** Whether so much was sent today that `mempool` is not served any more (`-maxuploadtarget`). */
  readonly uploadTarget: Pick<UploadTarget, 'isReached'>;
  readonly random: RandomSource;
  readonly nowMs: () => number;
  /** The clock of the mempool's arrival times. */
  readonly nowSec: () => number;
}

interface PeerInventory {
  /** Created on first use: half a megabyte. */
  known: RollingBloomFilter | null;
  readonly toSend: Set<string>;
  nextSendMs: number;
  wantsMempool: boolean;
  /** The running response to `mempool`, and its progress. */
  answer: readonly RelayEntry[];
  answered: number;
  /** Time of the last `mempool` request of the peer; 0 for never. */
  mempoolSec: number;
}

const INBOUND_INTERVAL_MS = 5000;
const OUTBOUND_INTERVAL_MS = 2000;
/** Maximum number of transactions in one batch: seven for each second between batches. Source: `INVENTORY_BROADCAST_MAX`. */
const BATCH = 7 * 5;
/** Maximum size of a peer's queue. Arbitrary: far more than can be sent in an hour. */
const MAX_TO_SEND = 50_000;
/** Limit of the queue after a reduction. */
const KEPT_TO_SEND = MAX_TO_SEND * 0.9;
/** Source: net.cpp `filterInventoryKnown`. */
const KNOWN_ITEMS = 50_000;
const KNOWN_FALSE_POSITIVE_RATE = 0.000001;
/** Mempool transactions processed in one turn of a peer. */
const ANSWER_PART = 1000;
/** Bytes of transactions matched with a peer's filter in one of its turns: some milliseconds in the worst case. */
const FILTERED_BYTES = 64 << 10;
const RELAY_MEMORY_BYTES = 64 << 20;

export class TxAnnouncer implements MessageHandler, InventoryServer {
  readonly handlers = { mempool: (peer: Peer) => this.onMempool(peer) };
  private readonly options: TxAnnouncerOptions;
  private readonly deps: TxAnnouncerDeps;
  private readonly states = new Map<Peer, PeerInventory>();
  private readonly inboundTimer: SharedTimer;
  private readonly relayed = new RelayMemory({ maxBytes: RELAY_MEMORY_BYTES });
  /** Cache of the sorted mempool, valid while it is unchanged. */
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

  /** Announces a mempool transaction to all peers that do not know it. */
  announce(txid: Bytes): void {
    const key = toLatin1(txid);
    for (const state of this.states.values()) {
      if (state.known?.contains(txid) === true) continue;
      state.toSend.add(key);
      if (state.toSend.size > MAX_TO_SEND) this.shorten(state.toSend);
    }
  }

  /** Removes transactions that left the mempool; if that is not enough, the oldest. */
  private shorten(toSend: Set<string>): void {
    for (const key of toSend) if (!this.deps.mempool.hasKey(key)) toSend.delete(key);
    for (const key of toSend) {
      if (toSend.size <= KEPT_TO_SEND) return;
      toSend.delete(key);
    }
  }

  /** Number of transactions in the peer's queue. */
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

  /** Removes the best entries from the peer's queue: those with few ancestors first, then those with the highest fee rate. */
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

  /** Queued transactions that are still in the mempool; others are removed. */
  private entriesToSend(toSend: Set<string>): RelayEntry[] {
    const entries: RelayEntry[] = [];
    for (const key of toSend) {
      const entry = this.deps.mempool.relayEntry(key);
      if (entry) entries.push(entry);
      else toSend.delete(key);
    }
    return entries;
  }

  /** A test whether a transaction pays enough for the peer and matches its filter. */
  private wishesOf(peer: Peer): (entry: RelayEntry) => boolean {
    const rate = this.deps.fees.rateOf(peer);
    const filter = this.deps.filters.filterOf(peer);
    return ({ feeSat, sizeBytes, bytes }) => {
      if (rate !== 0n && feeRateOf(feeSat, sizeBytes) < rate) return false;
      return filter === null || filter.isRelevantAndUpdate(bytes, parseTxView(bytes), 0);
    };
  }

  /** Cost of matching a transaction with the peer's filter; 0 without a filter. */
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

  /** The sorted mempool; synchronous if it is small or already sorted for another peer. */
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

  /** Releases the sorted mempool when no response needs it. */
  private forgetOrder(): void {
    for (const { answer } of this.states.values()) if (answer.length > 0) return;
    this.ordered = null;
  }

  handles(type: number): boolean {
    return type === INV.tx || type === INV.witnessTx;
  }

  /**
   * Sends a requested transaction if it was announced recently to any peer, or was in the mempool when the peer requested
   * the whole mempool. Other transactions are not sent. False if none was sent.
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
