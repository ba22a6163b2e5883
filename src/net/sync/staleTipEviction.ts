/**
 * Disconnects outbound peers whose chain stays behind the chain of this node. If no block arrives for a long time, it
 * requests one extra outbound peer; later the surplus peer with the oldest block announcement is disconnected. The peer
 * layer calls this class and manages the connections. Source: Core net_processing.cpp `ConsiderEviction`,
 * `CheckForStaleTipAndEvictPeers`, `EvictExtraOutboundPeers`.
 */
import { NO_HEADER } from '../../store/files/headerTable.js';
import { hashToHex } from '../../util/bytes.js';
import type { MessageHandler, Peer } from '../messageHandler.js';
import type { BlocksInFlight } from './blocksInFlight.js';
import { isReplaceable, type SyncPeer } from './peerTable.js';
import { sendGetHeaders, type SyncDeps } from './syncDeps.js';

/**
 * Maximum number of outbound peers that are protected from eviction, because their chain has at least as much work as that
 * of this node.
 */
const MAX_PROTECTED = 4;
/** Seconds within which a peer must reach the chain work of this node, and within which it must respond to a last getheaders. */
const CHAIN_SYNC_LIMIT_SEC = 20 * 60;
const HEADERS_RESPONSE_SEC = 2 * 60;
/** Interval in seconds of checks whether the tip is stale. */
const STALE_CHECK_INTERVAL_SEC = 10 * 60;
/** Number of block intervals without a new block after which the tip is stale. */
const STALE_TIP_BLOCKS = 3;
/** Minimum age in seconds of a connection before it can be evicted. */
const MIN_CONNECT_SEC = 30;

export interface StaleTipEvictionDeps extends SyncDeps {
  readonly inFlight: BlocksInFlight;
}

interface WatchedPeer {
  /** Time in seconds at which the peer must have reached the work of `goal`; 0 if the peer's chain has enough work. */
  deadlineSec: number;
  /** Tip of this node when the deadline was set. The work of the peer's chain must reach the work of this block. */
  goal: number;
  asked: boolean;
  isProtected: boolean;
}

export class StaleTipEviction implements MessageHandler {
  readonly ticksWhenFull = true;
  readonly handlers = {};
  private readonly deps: StaleTipEvictionDeps;
  private readonly own = new Map<number, WatchedPeer>();
  private protectedCount = 0;
  private lastTipSec = 0;
  private staleCheckSec = 0;
  private wantsExtra = false;
  readonly stop: () => void;

  constructor(deps: StaleTipEvictionDeps) {
    this.deps = deps;
    this.stop = deps.chain.events.on('blockConnected', () => {
      this.lastTipSec = deps.clock.nowSec();
    });
  }

  onVersion(peer: Peer): void {
    this.own.set(peer.id, { deadlineSec: 0, goal: NO_HEADER, asked: false, isProtected: false });
  }

  onGone(peer: Peer): void {
    if (this.own.get(peer.id)?.isProtected) this.protectedCount--;
    this.own.delete(peer.id);
  }

  onTick(peer: Peer): void {
    const state = this.deps.peers.get(peer);
    const own = this.own.get(peer.id);
    if (state && own && isReplaceable(peer) && state.syncStarted && !own.isProtected)
      this.checkProgress(state, own);
  }

  /**
   * Protects the peer from eviction if its chain has at least as much work as that of this node and fewer than
   * `MAX_PROTECTED` peers are protected. Called after valid headers.
   */
  considerProtecting({ peer, bestKnown }: SyncPeer): void {
    const own = this.own.get(peer.id);
    if (!own || own.isProtected || !isReplaceable(peer) || peer.isGone || bestKnown === NO_HEADER) return;
    if (this.protectedCount >= MAX_PROTECTED || this.isBehind(bestKnown, this.deps.chain.tip)) return;
    own.isProtected = true;
    this.protectedCount++;
    this.deps.log.debug('net', `Protecting outbound peer=${peer.id} from eviction`);
  }

  private isBehind(best: number, goal: number): boolean {
    return best === NO_HEADER || this.deps.chain.index.headers.compareWork(best, goal) < 0;
  }

  private checkProgress({ peer, bestKnown }: SyncPeer, own: WatchedPeer): void {
    const { chain, clock, log } = this.deps;
    const { headers } = chain.index;
    const now = clock.nowSec();
    if (!this.isBehind(bestKnown, chain.tip)) {
      own.deadlineSec = 0;
      own.goal = NO_HEADER;
      own.asked = false;
      return;
    }
    if (own.deadlineSec === 0 || (own.goal !== NO_HEADER && !this.isBehind(bestKnown, own.goal))) {
      own.deadlineSec = now + CHAIN_SYNC_LIMIT_SEC;
      own.goal = chain.tip;
      own.asked = false;
      return;
    }
    if (now <= own.deadlineSec) return;
    if (own.asked) {
      const best = bestKnown === NO_HEADER ? '<none>' : hashToHex(headers.hash(bestKnown));
      log.info(`Disconnecting outbound peer ${peer.id} for old chain, best known block = ${best}`);
      peer.disconnect('old chain');
      return;
    }
    log.debug('net', `sending getheaders to outbound peer=${peer.id} to verify chain work`);
    sendGetHeaders(this.deps, peer, this.parentOrSelf(own.goal));
    own.asked = true;
    own.deadlineSec = now + HEADERS_RESPONSE_SEC;
  }

  private parentOrSelf(id: number): number {
    const parent = this.deps.chain.index.headers.prev(id);
    return parent === NO_HEADER ? id : parent;
  }

  /**
   * Whether an extra outbound peer should be connected because no block arrived for a long time. Must be called regularly;
   * the result is recomputed every ten minutes.
   */
  wantsExtraOutbound(): boolean {
    const { clock, log } = this.deps;
    const now = clock.nowSec();
    if (now > this.staleCheckSec) {
      this.wantsExtra = this.isTipStale(now);
      if (this.wantsExtra)
        log.info(
          `Potential stale tip detected, will try using extra outbound peer (last tip update: ${now - this.lastTipSec} seconds ago)`,
        );
      this.staleCheckSec = now + STALE_CHECK_INTERVAL_SEC;
    }
    return this.wantsExtra;
  }

  private isTipStale(now: number): boolean {
    const { params, inFlight } = this.deps;
    if (this.lastTipSec === 0) this.lastTipSec = now;
    return this.lastTipSec < now - params.targetSpacingSec * STALE_TIP_BLOCKS && inFlight.size === 0;
  }

  /**
   * Returns the peers to disconnect if there are `extra` surplus outbound peers: at most one. Must be called about every 45
   * seconds. After a call with surplus peers, no extra peer is requested until the tip is stale again.
   */
  peersToEvict(extra: number): Peer[] {
    if (extra <= 0) return [];
    let worst: SyncPeer | null = null;
    for (const state of this.deps.peers.ready()) {
      if (!isReplaceable(state.peer) || this.own.get(state.peer.id)?.isProtected) continue;
      if (worst === null || this.isWorse(state, worst)) worst = state;
    }
    if (worst === null) return [];
    const { clock, inFlight, log } = this.deps;
    const { peer } = worst;
    const isYoung = clock.nowSec() - peer.connectedAtSec <= MIN_CONNECT_SEC;
    if (isYoung || inFlight.countFrom(peer) > 0) {
      log.debug('net', `keeping outbound peer=${peer.id} chosen for eviction`);
      return [];
    }
    log.debug(
      'net',
      `disconnecting extra outbound peer=${peer.id} (last block announcement received at time ${worst.lastAnnouncementSec})`,
    );
    this.wantsExtra = false;
    return [peer];
  }

  private isWorse(a: SyncPeer, b: SyncPeer): boolean {
    if (a.lastAnnouncementSec !== b.lastAnnouncementSec) return a.lastAnnouncementSec < b.lastAnnouncementSec;
    return a.peer.id > b.peer.id;
  }
}
