/**
 * Header sync: requests headers, from one peer at a time until the chain is nearly up to date, stores them, and punishes
 * peers for invalid headers. Headers of a chain with too little work are stored only after the chain has shown sufficient
 * work (`presyncs.ts`). Other modules are notified of new headers, so that they can download blocks, and keep or disconnect
 * peers. Source: Core net_processing.cpp `ProcessHeadersMessage`, `SendMessages` (start of block sync, headers timeout),
 * `INV`; later Core's `TryLowWorkHeadersSync`.
 */
import { blockWork } from '../../primitives/compactTarget.js';
import type { ValidationError } from '../../consensus/reject.js';
import { headerHash } from '../../primitives/header.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { equalBytes, hashToHex } from '../../util/bytes.js';
import { yieldIfDue } from '../../scheduler/peerQueue.js';
import { INV, MAX_INV_ITEMS } from '../inventory.js';
import { MAX_HEADERS } from '../messages/headers.js';
import type { Payload } from '../messages/table.js';
import type { MessageHandler, Peer, RandomSource } from '../messageHandler.js';
import { MAX_BLOCKS_TO_ANNOUNCE } from './blockAnnounce.js';
import type { BlockRequests } from './blockRequests.js';
import type { StaleTipEviction } from './staleTipEviction.js';
import { isReplaceable, type SyncPeer } from './peerTable.js';
import { Presyncs, type Arrived } from './presyncs.js';
import { sendGetHeaders, type SyncDeps } from './syncDeps.js';

const DAY_SEC = 24 * 60 * 60;
/** Time limit in ms for the initial header download: a base, and an addition for each expected header. */
const DOWNLOAD_LIMIT_BASE_MS = 15 * 60 * 1000;
const DOWNLOAD_LIMIT_PER_HEADER_MS = 1;
/** Number of consecutive headers messages with unknown parents that a peer may send without punishment. */
const MAX_UNCONNECTING = 10;
/** Number of headers checked between two yields to the event loop. */
const SLICE_HEADERS = 250;
const BITS_OFFSET = 104;

export interface HeadersSyncOptions {
  /** Minimum chain work. During the initial download, outbound peers whose chain has less work are disconnected. */
  minimumChainWork: bigint;
}

export interface HeadersSyncDeps extends SyncDeps {
  readonly requests: Pick<BlockRequests, 'fetchTowards'>;
  readonly staleTips: Pick<StaleTipEviction, 'considerProtecting'>;
  readonly random: RandomSource;
}

/** Unknown headers of a message whose chain has too little work to be stored. */
interface WeakBranch {
  /** Known header after which the unknown headers follow. */
  readonly start: number;
  /** Total chain work up to the last header of the message. */
  readonly work: bigint;
  readonly fresh: Arrived;
}

interface HeadersPeer {
  unconnecting: number;
  /**
   * Whether this node requested all headers from this peer because of a block announcement, although another peer is already
   * sending them.
   */
  askedForInv: boolean;
  /** Time limit in ms for the initial header download; infinite when the chain is up to date. */
  deadlineMs: number;
}

export class HeadersSync implements MessageHandler {
  readonly ticksWhenFull = true;
  readonly handlers = {
    headers: (peer: Peer, { headers, tooMany }: Payload<'headers'>) => this.onHeaders(peer, headers, tooMany),
    inv: (peer: Peer, { items }: Payload<'inv'>) => this.onInv(peer, items),
  };
  private readonly options: HeadersSyncOptions;
  private readonly deps: HeadersSyncDeps;
  private readonly own = new Map<number, HeadersPeer>();
  private readonly presyncs: Presyncs;
  /** Hash of the last announced block for which headers were requested from an additional peer. */
  private lastAskedInv: Buffer | null = null;

  constructor(options: HeadersSyncOptions, deps: HeadersSyncDeps) {
    this.options = options;
    this.deps = deps;
    this.presyncs = new Presyncs(deps);
  }

  onVersion(peer: Peer): void {
    this.own.set(peer.id, { unconnecting: 0, askedForInv: false, deadlineMs: 0 });
  }

  onGone(peer: Peer): void {
    this.own.delete(peer.id);
    this.presyncs.end(peer);
  }

  onHeldUp(ms: number): void {
    this.presyncs.excuse(ms);
  }

  onTick(peer: Peer, nowMs: number): void {
    const state = this.deps.peers.get(peer);
    const own = this.own.get(peer.id);
    if (!state || !own) return;
    this.startSync(state, own, nowMs);
    this.checkDeadline(state, own, nowMs);
    if (this.presyncs.isStale(peer)) {
      this.presyncs.end(peer);
      sendGetHeaders(this.deps, peer, this.deps.chain.index.bestHeader);
    }
  }

  private get bestAgeSec(): number {
    const { headers, bestHeader } = this.deps.chain.index;
    return this.deps.clock.adjustedTimeSec() - headers.timeSec(bestHeader);
  }

  private startSync(state: SyncPeer, own: HeadersPeer, nowMs: number): void {
    const { chain, params, peers, log } = this.deps;
    if (state.syncStarted || state.isClient || chain.importing) return;
    if (this.bestAgeSec >= DAY_SEC && (peers.syncingCount > 0 || !peers.mayFetchFrom(state))) return;
    state.syncStarted = true;
    const expected = Math.trunc(this.bestAgeSec / params.targetSpacingSec);
    own.deadlineMs = nowMs + DOWNLOAD_LIMIT_BASE_MS + DOWNLOAD_LIMIT_PER_HEADER_MS * expected;
    // The request starts at the parent of the best header. So the response of a peer with the same chain is not empty, and
    // shows the peer's best block.
    const { headers, bestHeader } = chain.index;
    const parent = headers.prev(bestHeader);
    const from = parent === NO_HEADER ? bestHeader : parent;
    log.debug('net', `initial getheaders (${headers.height(from)}) to peer=${state.peer.id}`);
    sendGetHeaders(this.deps, state.peer, from);
  }

  private checkDeadline(state: SyncPeer, own: HeadersPeer, nowMs: number): void {
    const { peers, log } = this.deps;
    if (!state.syncStarted || own.deadlineMs === Infinity) return;
    if (this.bestAgeSec < DAY_SEC) {
      own.deadlineMs = Infinity;
      return;
    }
    const others = peers.preferredCount - (state.isPreferred ? 1 : 0);
    if (nowMs <= own.deadlineMs || peers.syncingCount !== 1 || others < 1) return;
    const { peer } = state;
    if (!peer.isWhitelisted) {
      log.info(`Timeout downloading headers from peer=${peer.id}, disconnecting`);
      peer.disconnect('timeout downloading headers');
      return;
    }
    log.info(`Timeout downloading headers from whitelisted peer=${peer.id}, not disconnecting`);
    state.syncStarted = false;
    own.deadlineMs = 0;
  }

  /**
   * Handles block announcements by inv. Requests the headers up to the last announced block, which is assumed to be the
   * best. Other items belong to the transaction relay.
   */
  private onInv(peer: Peer, items: Payload<'inv'>['items']): void {
    if (items.length > MAX_INV_ITEMS) {
      peer.punish(20, `message inv size() = ${items.length}`);
      return;
    }
    const { chain, peers } = this.deps;
    const state = peers.get(peer);
    if (!state) return;
    let unknown: Buffer | null = null;
    for (const { type, hash } of items) {
      if (type !== INV.block) continue;
      peers.noteAnnounced(state, hash);
      if (chain.index.headers.find(hash) === NO_HEADER) unknown = hash;
    }
    if (unknown === null || chain.importing || !this.mayAskFor(unknown, state)) return;
    sendGetHeaders(this.deps, peer, chain.index.bestHeader, unknown);
  }

  /**
   * Whether headers may be requested from a peer that announced an unknown block. Before the headers are up to date, only
   * one additional peer per announced block is asked. Otherwise each new block would make all peers send all headers.
   * Source: later Core's `m_inv_triggered_getheaders_before_sync`.
   */
  private mayAskFor(hash: Buffer, { peer, syncStarted }: SyncPeer): boolean {
    const own = this.own.get(peer.id);
    if (syncStarted || !own) return syncStarted;
    if (own.askedForInv || (this.lastAskedInv !== null && equalBytes(this.lastAskedInv, hash))) return false;
    own.askedForInv = true;
    this.lastAskedInv = Buffer.from(hash);
    return true;
  }

  private async onHeaders(
    peer: Peer,
    headers: readonly Buffer[],
    tooMany: number | undefined,
  ): Promise<void> {
    if (this.deps.chain.importing) return;
    if (tooMany !== undefined || headers.length > MAX_HEADERS) {
      peer.punish(20, `headers message size = ${tooMany ?? headers.length}`);
      return;
    }
    const refuseInvalidChain = peer.kind !== 'inbound' && peer.kind !== 'manual';
    await this.process(peer, headers, refuseInvalidChain);
  }

  /**
   * Processes received headers. With `refuseInvalidChain`, a peer is disconnected if its headers build on an invalid block.
   */
  async process(peer: Peer, headers: readonly Buffer[], refuseInvalidChain: boolean): Promise<void> {
    const { chain, peers } = this.deps;
    const table = chain.index.headers;
    const state = peers.get(peer);
    const own = this.own.get(peer.id);
    if (!state || !own) return;
    if (headers.length === 0) {
      this.presyncs.end(peer);
      return;
    }
    const parent = prevHashOf(headers[0]!);
    const isContinuation = this.presyncs.isAwaiting(peer, parent);
    const isKnownParent = isContinuation || table.find(parent) !== NO_HEADER;
    if (!isKnownParent && headers.length < MAX_BLOCKS_TO_ANNOUNCE) {
      this.handleUnconnecting(state, own, headers);
      return;
    }
    const hashes = headers.map(headerHash);
    if (headers.some((header, i) => i > 0 && !equalBytes(prevHashOf(header), hashes[i - 1]!))) {
      peer.punish(20, 'non-continuous headers sequence');
      return;
    }
    const all: Arrived = { headers, hashes, isFull: headers.length === MAX_HEADERS };
    const weak = isContinuation ? null : this.findWeak(peer, all);
    if (weak && this.dropsWeak(state, own, all, weak)) return;
    const arrived = weak?.fresh ?? all;
    // Proof of work is checked before headers are stored or their work is counted, if their parent is known. Otherwise,
    // because of a header that claims high work without proof, the headers before it would be stored too.
    const error = isKnownParent ? await this.checkWork(peer, arrived) : null;
    if (peer.isGone) return;
    if (error) {
      this.presyncs.end(peer);
      peer.punish(error.dosScore, 'invalid header received');
      return;
    }
    if (weak) this.presyncs.begin(state, weak.start);
    if (weak || isContinuation) await this.continuePresync(state, own, arrived, refuseInvalidChain);
    else await this.keep(state, own, arrived, refuseInvalidChain);
  }

  /**
   * Checks that all new headers have the proof of work that they claim. Returns the first error or null. Known headers were
   * checked earlier.
   */
  private async checkWork(peer: Peer, { headers, hashes }: Arrived): Promise<ValidationError | null> {
    const { index } = this.deps.chain;
    let since = performance.now();
    for (const [i, header] of headers.entries()) {
      const error = index.headers.find(hashes[i]!) === NO_HEADER ? index.checkWorkOf(header) : null;
      if (error) return error;
      if (i % SLICE_HEADERS === SLICE_HEADERS - 1) since = await yieldIfDue(since, peer);
    }
    return null;
  }

  /** Returns the unknown headers if the work of their chain is too low for storing them; otherwise null. */
  private findWeak(peer: Peer, { headers, hashes, isFull }: Arrived): WeakBranch | null {
    const { chain } = this.deps;
    const table = chain.index.headers;
    const first = hashes.findIndex((hash) => table.find(hash) === NO_HEADER);
    if (first < 0 || peer.isWhitelisted) return null;
    const start = table.find(prevHashOf(headers[first]!));
    const needed = chain.acceptance.leastBranchWork;
    // An invalid chain is not a weak branch; the normal checks handle it.
    if (start === NO_HEADER || table.isFailed(start) || table.work(start) >= needed) return null;
    const fresh = { headers: headers.slice(first), hashes: hashes.slice(first), isFull };
    let work = table.work(start);
    for (const header of fresh.headers) work += blockWork(header.readUInt32LE(BITS_OFFSET));
    return work < needed ? { start, work, fresh } : null;
  }

  /**
   * Whether a branch with too little work is ignored. The branch is processed only if more headers may follow and the
   * two-pass download from the peer does not process it already.
   */
  private dropsWeak(
    { peer, isPresyncing }: SyncPeer,
    own: HeadersPeer,
    { isFull }: Arrived,
    { start, work, fresh }: WeakBranch,
  ): boolean {
    const { chain, log } = this.deps;
    // The parent of the headers is known, so the counter of messages with unknown parents is reset.
    own.unconnecting = 0;
    if (isPresyncing) return true;
    if (isFull) return false;
    const height = chain.index.headers.height(start) + fresh.headers.length;
    log.debug('net', `Ignoring low-work chain (height=${height}) from peer=${peer.id}`);
    this.refuseWeak(peer, work);
    return true;
  }

  private async continuePresync(
    state: SyncPeer,
    own: HeadersPeer,
    arrived: Arrived,
    refuseInvalidChain: boolean,
  ): Promise<void> {
    const { peer } = state;
    const step = await this.presyncs.take(state, arrived);
    if (peer.isGone) return;
    if (step.error && step.error.dosScore > 0) peer.punish(step.error.dosScore, 'invalid header received');
    if (step.weakWork !== null) this.refuseWeak(peer, step.weakWork);
    if (step.ready.length === 0) return;
    const hashes = step.ready.map(headerHash);
    await this.keep(state, own, { headers: step.ready, hashes, isFull: arrived.isFull }, refuseInvalidChain);
  }

  /** Handles a peer whose chain ends with too little work. During the initial download an outbound peer is disconnected. */
  private refuseWeak(peer: Peer, work: bigint): void {
    const { chain, log } = this.deps;
    if (work >= this.options.minimumChainWork || !isReplaceable(peer) || !chain.isInitialDownload()) return;
    log.info(`Disconnecting outbound peer ${peer.id} -- headers chain has insufficient work`);
    peer.disconnect('headers chain has insufficient work');
  }

  /** Stores headers whose proof of work was checked, and then starts the download of their blocks. */
  private async keep(
    state: SyncPeer,
    own: HeadersPeer,
    { headers, hashes, isFull }: Arrived,
    refuseInvalidChain: boolean,
  ): Promise<void> {
    const table = this.deps.chain.index.headers;
    const { peer } = state;
    const hasNews = table.find(hashes.at(-1)!) === NO_HEADER;
    const { error, firstInvalid } = await this.accept(state.peer, headers, hashes);
    if (peer.isGone) return;
    if (error) {
      this.presyncs.end(peer);
      if (error.dosScore > 0) peer.punish(error.dosScore, 'invalid header received');
      if (refuseInvalidChain && table.find(firstInvalid) !== NO_HEADER)
        peer.disconnect('its chain holds a block known to be invalid');
      return;
    }
    own.unconnecting = 0;
    this.follow(state, table.find(hashes.at(-1)!), hasNews, isFull);
  }

  /** Handles headers with an unknown parent. The peer may be ahead, so its headers after the last common block are requested. */
  private handleUnconnecting(state: SyncPeer, own: HeadersPeer, headers: readonly Buffer[]): void {
    const { chain, peers, log } = this.deps;
    const { peer } = state;
    own.unconnecting++;
    sendGetHeaders(this.deps, peer, chain.index.bestHeader);
    log.debug(
      'net',
      () =>
        `received header ${hashToHex(headerHash(headers[0]!))}: missing prev block, sending getheaders (peer=${peer.id}, ${own.unconnecting} in a row)`,
    );
    peers.noteAnnounced(state, headerHash(headers.at(-1)!));
    if (own.unconnecting % MAX_UNCONNECTING === 0) peer.punish(20, 'headers that do not connect');
  }

  /** Stores headers in slices, up to the first invalid header. */
  private async accept(
    peer: Peer,
    headers: readonly Buffer[],
    hashes: readonly Buffer[],
  ): Promise<{ error: ValidationError | null; firstInvalid: Buffer }> {
    const { chain } = this.deps;
    let since = performance.now();
    for (let first = 0; first < headers.length; first += SLICE_HEADERS) {
      const { last, error } = chain.acceptHeaders(headers.slice(first, first + SLICE_HEADERS), true);
      if (error) {
        const accepted = last === NO_HEADER ? Buffer.alloc(0) : chain.index.headers.hash(last);
        const at = hashes.findIndex((hash, i) => i >= first && equalBytes(hash, accepted));
        return { error, firstInvalid: hashes[at < 0 ? first : at + 1]! };
      }
      since = await yieldIfDue(since, peer);
    }
    return { error: null, firstInvalid: Buffer.alloc(0) };
  }

  /** Continues after valid headers: requests more headers, downloads blocks, and updates the data for evictions. */
  private follow(state: SyncPeer, last: number, hasNews: boolean, isFull: boolean): void {
    const { chain, clock, peers, requests, staleTips, log } = this.deps;
    const { headers } = chain.index;
    const { peer } = state;
    peers.noteAnnounced(state, Buffer.from(headers.hash(last)));
    if (hasNews && headers.compareWork(last, chain.tip) > 0) state.lastAnnouncementSec = clock.nowSec();
    if (isFull && !state.isPresyncing) {
      log.debug('net', `more getheaders (${headers.height(last)}) to end to peer=${peer.id}`);
      sendGetHeaders(this.deps, peer, last);
    }
    requests.fetchTowards(state, last);
    if (!isFull && state.bestKnown !== NO_HEADER) this.refuseWeak(peer, headers.work(state.bestKnown));
    if (!peer.isGone) staleTips.considerProtecting(state);
  }
}

/** Returns the id of a header's parent as a view of the header. */
function prevHashOf(header: Buffer): Buffer {
  return header.subarray(4, 36);
}
