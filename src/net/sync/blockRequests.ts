/**
 * Selects the peer for each block download. Blocks are downloaded from all suitable peers concurrently, within a window
 * above the last common block. A peer that stalls the window or exceeds the time limit of a block is disconnected. Nothing
 * is stored on disk, because the chain stores which blocks are present. Source: Core net_processing.cpp
 * `FindNextBlocksToDownload`, `SendMessages` (stalling, download timeout, getdata), `ProcessHeadersMessage` (direct fetch).
 */
import { NO_HEADER, STATUS } from '../../store/files/headerTable.js';
import { hashToHex } from '../../util/bytes.js';
import { INV, type InvItem } from '../inventory.js';
import type { MessageHandler, Peer, PeerStateInfo } from '../messageHandler.js';
import type { BlocksInFlight } from './blocksInFlight.js';
import { blockTypeFor, type SyncPeer } from './peerTable.js';
import { isNearlyInStep, type SyncDeps } from './syncDeps.js';

/** Maximum number of blocks that are requested from one peer and not received yet. */
export const MAX_BLOCKS_IN_TRANSIT = 16;
/** Source: `BLOCK_DOWNLOAD_WINDOW`. */
const DOWNLOAD_WINDOW = 1024;
/** Source: `BLOCK_STALLING_TIMEOUT`. */
const STALLING_LIMIT_MS = 2000;
/**
 * Time limit for one block, as multiples of the target spacing: a base, and an addition for each other peer from which
 * blocks are requested.
 */
const DOWNLOAD_LIMIT_SPACINGS = 1;
const DOWNLOAD_LIMIT_SPACINGS_PER_PEER = 0.5;
/**
 * Number of last blocks that a pruned peer (NODE_NETWORK_LIMITED) surely has, two fewer than it promises, to avoid races.
 * Older blocks are not requested from such a peer. The reference requests them after it was offline for half a day, and the
 * peer then disconnects it.
 */
const LIMITED_DEPTH = 288 - 2;
/**
 * Number of headers that are collected in one step of an iteration over a branch. Steps are needed because a header refers
 * only to its parent.
 */
const WALK_BATCH = 128;
/**
 * If at most this number of requested blocks is pending at a peer, more blocks are requested immediately instead of at the
 * next tick.
 */
const TOP_UP_BELOW = MAX_BLOCKS_IN_TRANSIT / 2;

export interface BlockRequestsOptions {
  /** Minimum chain work of a branch whose blocks are downloaded. */
  minimumChainWork: bigint;
  /** Size of the download window in blocks above the last common block. 1,024 except in tests. */
  downloadWindow?: number;
}

export interface BlockRequestsDeps extends SyncDeps {
  readonly inFlight: BlocksInFlight;
  /** Returns which peers send compact blocks of the version that this node requests. */
  readonly compact: { supportsWanted(peer: Peer): boolean };
}

interface NextBlocks {
  wanted: number[];
  /** Peer whose missing block prevents the download window from advancing; null if none. */
  staller: Peer | null;
}

export class BlockRequests implements MessageHandler {
  readonly ticksWhenFull = true;
  readonly handlers = {};
  private readonly options: BlockRequestsOptions;
  private readonly deps: BlockRequestsDeps;

  constructor(options: BlockRequestsOptions, deps: BlockRequestsDeps) {
    this.options = options;
    this.deps = deps;
  }

  onGone(peer: Peer): void {
    this.deps.inFlight.dropPeer(peer);
  }

  describe(peer: Peer): Partial<PeerStateInfo> {
    const { headers } = this.deps.chain.index;
    return { inFlightHeights: this.deps.inFlight.idsFrom(peer).map((id) => headers.height(id)) };
  }

  onTick(peer: Peer): void {
    const late = this.lateness(peer);
    if (late === null) {
      this.askForMore(peer);
      return;
    }
    this.deps.log.info(`${late}, disconnecting`);
    peer.disconnect(late);
  }

  onHeldUp(ms: number): void {
    this.deps.inFlight.excuse(ms);
  }

  /** Returns the reason for disconnecting a slow peer, or null if the peer is within its time limits. */
  private lateness(peer: Peer): string | null {
    const { inFlight, params, chain } = this.deps;
    if (inFlight.stallingMs(peer) > STALLING_LIMIT_MS) return `Peer=${peer.id} is stalling block download`;
    const [first] = inFlight.idsFrom(peer);
    if (first === undefined) return null;
    const spacings = DOWNLOAD_LIMIT_SPACINGS + DOWNLOAD_LIMIT_SPACINGS_PER_PEER * (inFlight.peerCount - 1);
    if (inFlight.waitingMs(peer) <= params.targetSpacingSec * 1000 * spacings) return null;
    return `Timeout downloading block ${hashToHex(chain.index.headers.hash(first))} from peer=${peer.id}`;
  }

  /** Requests the next blocks from the peer, if few of the requests to it are pending. */
  topUp(peer: Peer): void {
    if (!peer.isSendFull && this.deps.inFlight.countFrom(peer) <= TOP_UP_BELOW) this.askForMore(peer);
  }

  private askForMore(peer: Peer): void {
    const { inFlight, peers, chain } = this.deps;
    const state = peers.get(peer);
    const room = MAX_BLOCKS_IN_TRANSIT - inFlight.countFrom(peer);
    if (!state || peer.isGone || room <= 0 || chain.importing || state.isClient) return;
    const isInitial = chain.isInitialDownload();
    if (isInitial && (state.isLimited || !peers.mayFetchFrom(state))) return;
    const { wanted, staller } = this.findNext(state, room);
    this.ask(state, wanted);
    if (wanted.length < room) this.ask(state, this.findBehind(state, room - wanted.length));
    if (staller && inFlight.countFrom(peer) === 0) inFlight.markStalling(staller);
  }

  private ask(state: SyncPeer, ids: readonly number[], type = blockTypeFor(state)): void {
    if (ids.length === 0) return;
    const { inFlight, chain, log } = this.deps;
    const { headers } = chain.index;
    const items: InvItem[] = ids.map((id) => ({ type, hash: Buffer.from(headers.hash(id)) }));
    for (const id of ids) inFlight.request(state.peer, id);
    log.debug(
      'net',
      () =>
        `Requesting ${ids.length} blocks, ${hashToHex(items[0]!.hash)} (${headers.height(ids[0]!)}) first, peer=${state.peer.id}`,
    );
    state.peer.send('getdata', { items });
  }

  /** Requests one full block from this peer, even if it is already marked as requested. */
  askWhole(state: SyncPeer, id: number): void {
    const hash = Buffer.from(this.deps.chain.index.headers.hash(id));
    state.peer.send('getdata', { items: [{ type: blockTypeFor(state), hash }] });
  }

  /** Yields the header ids above `from` on the branch that ends at `to`, ascending, up to `maxHeight`. */
  private *branch(from: number, to: number, maxHeight: number): Generator<number> {
    const { headers } = this.deps.chain.index;
    for (let at = from; headers.height(at) < maxHeight;) {
      const count = Math.min(maxHeight - headers.height(at), WALK_BATCH);
      const batch = [this.deps.headerChain.ancestorOf(to, headers.height(at) + count)];
      while (batch.length < count) batch.push(headers.prev(batch.at(-1)!));
      at = batch[0]!;
      yield* batch.reverse();
    }
  }

  /**
   * Returns up to `count` blocks that the peer has and that are neither stored nor requested yet. Advances `lastCommon`, the
   * last block that this node and the peer have in common, as far as possible.
   */
  private findNext(state: SyncPeer, count: number): NextBlocks {
    const found: NextBlocks = { wanted: [], staller: null };
    const { chain, headerChain, inFlight, peers } = this.deps;
    const { headers, active } = chain.index;
    peers.refresh(state);
    const best = state.bestKnown;
    if (best === NO_HEADER || headers.compareWork(best, chain.tip) < 0) return found;
    if (headers.work(best) < this.options.minimumChainWork) return found;
    // The initial value may be too high or too low. `headerChain.lastCommon` below corrects it.
    if (state.lastCommon === NO_HEADER)
      state.lastCommon = active.at(Math.min(headers.height(best), active.height));
    state.lastCommon = headerChain.lastCommon(state.lastCommon, best);
    if (state.lastCommon === best) return found;
    const windowEnd = headers.height(state.lastCommon) + (this.options.downloadWindow ?? DOWNLOAD_WINDOW);
    // Includes one block beyond the window, to detect that the window limits the download.
    const maxHeight = Math.min(headers.height(best), windowEnd + 1);
    let waitingFor: Peer | null = null;
    for (const id of this.branch(state.lastCommon, best, maxHeight)) {
      if (headers.isFailed(id) || !this.canGive(state, id)) break;
      if (headers.hasStatus(id, STATUS.haveData) || active.contains(id)) {
        if (headers.chainTxCount(id) > 0) state.lastCommon = id;
        continue;
      }
      const flying = inFlight.get(id);
      if (flying) {
        waitingFor ??= flying.peer;
        continue;
      }
      if (headers.height(id) > windowEnd) {
        if (found.wanted.length === 0 && waitingFor?.id !== state.peer.id) found.staller = waitingFor;
        break;
      }
      if (state.isLimited && headers.height(best) - headers.height(id) >= LIMITED_DEPTH) continue;
      found.wanted.push(id);
      if (found.wanted.length === count) break;
    }
    return found;
  }

  /** Returns up to `count` blocks below a snapshot that the peer has and that are neither stored nor requested yet. */
  private findBehind(state: SyncPeer, count: number): number[] {
    const { chain, inFlight } = this.deps;
    const { headers, active } = chain.index;
    const range = chain.wantedBehind();
    if (range === null || state.isLimited || state.bestKnown === NO_HEADER) return [];
    // The peer's best chain must include the last wanted block.
    if (active.ancestorOf(state.bestKnown, range.last) !== active.at(range.last)) return [];
    const wanted: number[] = [];
    for (let height = range.first; height <= range.last && wanted.length < count; height++) {
      const id = active.at(height);
      if (headers.hasStatus(id, STATUS.haveData) || inFlight.get(id)) continue;
      if (!this.canGive(state, id)) break;
      wanted.push(id);
    }
    return wanted;
  }

  /** Whether the peer can serve the block with all data. A block with witness can only come from a peer that serves witnesses. */
  private canGive(state: SyncPeer, id: number): boolean {
    const { headers, versionBits } = this.deps.chain.index;
    return state.hasWitness || !versionBits.isActive('segwit', headers.prev(id));
  }

  /** Requests the blocks up to a newly announced header, if they are few and the branch has at least as much work as the tip. */
  fetchTowards(state: SyncPeer, id: number): void {
    const { chain, inFlight, log, compact } = this.deps;
    const { headers, active } = chain.index;
    if (!isNearlyInStep(this.deps) || headers.isFailed(id) || headers.compareWork(chain.tip, id) > 0) return;
    const missing: number[] = [];
    let at = id;
    while (at !== NO_HEADER && !active.contains(at) && missing.length <= MAX_BLOCKS_IN_TRANSIT) {
      const isHere = headers.hasStatus(at, STATUS.haveData) || inFlight.has(at);
      if (!isHere && this.canGive(state, at)) missing.push(at);
      at = headers.prev(at);
    }
    if (!active.contains(at)) {
      log.debug(
        'net',
        () => `Large reorg, won't direct fetch to ${hashToHex(headers.hash(id))} (${headers.height(id)})`,
      );
      return;
    }
    const room = Math.max(0, MAX_BLOCKS_IN_TRANSIT - inFlight.countFrom(state.peer));
    const wanted = missing.reverse().slice(0, room);
    const isOnlyOne = wanted.length === 1 && inFlight.size === 0;
    const parent = headers.prev(id);
    const inCompactForm =
      isOnlyOne &&
      compact.supportsWanted(state.peer) &&
      headers.hasStatus(parent, STATUS.validScripts) &&
      !headers.isFailed(parent);
    this.ask(state, wanted, inCompactForm ? INV.compactBlock : blockTypeFor(state));
  }
}
