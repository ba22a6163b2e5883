/**
 * What is known of each peer's chain: which block is its best, which it was sent, whether it is fit to download from.
 * Several parts of the block side read and write it; what only one of them needs it keeps itself.
 * Source: Core net_processing.cpp `CNodeState`, `ProcessBlockAvailability`, `UpdateBlockAvailability`, `PeerHasHeader`.
 */
import type { BlockIndex } from '../../chain/index/blockIndex.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { INV } from '../inventory.js';
import type { MessageHandler, Peer, PeerStateInfo } from '../messageHandler.js';
import { NODE } from '../services.js';
import type { HeaderChain } from '../../chain/index/headerChain.js';

export interface SyncPeer {
  readonly peer: Peer;
  /** Offers no blocks at all. */
  readonly isClient: boolean;
  /** Offers the last blocks only (BIP159). */
  readonly isLimited: boolean;
  readonly hasWitness: boolean;
  /** Whether blocks are rather fetched from it than from others. */
  readonly isPreferred: boolean;
  /** Headers by their ids, or `NO_HEADER`. The best block it announced, */
  bestKnown: number;
  /** the last one that both have, */
  lastCommon: number;
  /** and the best header we sent it. */
  bestSent: number;
  /** The last block it announced that we knew nothing of, wire order. */
  unknownHash: Buffer | null;
  /** When it last announced a new block better than our tip; 0 for never. */
  lastAnnouncementSec: number;
  /** Whether we asked it for all headers. */
  syncStarted: boolean;
  /** Whether headers of it are under way that are not kept yet: nothing else is asked for meanwhile. */
  isPresyncing: boolean;
}

export class PeerTable implements MessageHandler {
  readonly handlers = {};
  private readonly index: Pick<BlockIndex, 'headers'>;
  private readonly chain: HeaderChain;
  private readonly peers = new Map<number, SyncPeer>();
  private preferred = 0;

  constructor(deps: { index: Pick<BlockIndex, 'headers'>; headerChain: HeaderChain }) {
    this.index = deps.index;
    this.chain = deps.headerChain;
  }

  /** Peers that are fit to download from, and wanted. */
  get preferredCount(): number {
    return this.preferred;
  }

  /** Peers that were asked for all headers. */
  get syncingCount(): number {
    let count = 0;
    for (const { syncStarted } of this.peers.values()) if (syncStarted) count++;
    return count;
  }

  get(peer: Peer): SyncPeer | undefined {
    return this.peers.get(peer.id);
  }

  /** Peers with a completed handshake. */
  *ready(): Generator<SyncPeer> {
    for (const state of this.peers.values()) if (state.peer.isReady && !state.peer.isGone) yield state;
  }

  onVersion(peer: Peer): void {
    const services = peer.version!.services;
    const isClient = (services & (NODE.network | NODE.networkLimited)) === 0n;
    const isPreferred =
      (peer.kind !== 'inbound' || peer.isWhitelisted) && peer.kind !== 'oneShot' && !isClient;
    if (isPreferred) this.preferred++;
    this.peers.set(peer.id, {
      peer,
      isClient,
      isLimited: !isClient && (services & NODE.network) === 0n,
      hasWitness: (services & NODE.witness) !== 0n,
      isPreferred,
      bestKnown: NO_HEADER,
      lastCommon: NO_HEADER,
      bestSent: NO_HEADER,
      unknownHash: null,
      lastAnnouncementSec: 0,
      syncStarted: false,
      isPresyncing: false,
    });
  }

  onGone(peer: Peer): void {
    if (this.peers.get(peer.id)?.isPreferred) this.preferred--;
    this.peers.delete(peer.id);
  }

  describe(peer: Peer): Partial<PeerStateInfo> {
    const state = this.peers.get(peer.id);
    if (!state) return {};
    const heightOf = (id: number): number => (id === NO_HEADER ? -1 : this.index.headers.height(id));
    return { syncedHeaders: heightOf(state.bestKnown), syncedBlocks: heightOf(state.lastCommon) };
  }

  /** Whether to download from it: it is a nice peer, or there is none and it might do. */
  mayFetchFrom({ isPreferred, isClient, peer }: SyncPeer): boolean {
    return isPreferred || (this.preferred === 0 && !isClient && peer.kind !== 'oneShot');
  }

  /** Looks whether the last unknown block it announced has become known. */
  refresh(state: SyncPeer): void {
    if (state.unknownHash === null) return;
    const id = this.index.headers.find(state.unknownHash);
    if (id === NO_HEADER) return;
    this.noteHas(state, id);
    state.unknownHash = null;
  }

  /** Notes that the peer announced a block. */
  noteAnnounced(state: SyncPeer, hash: Buffer): void {
    this.refresh(state);
    const id = this.index.headers.find(hash);
    if (id !== NO_HEADER) this.noteHas(state, id);
    else state.unknownHash = Buffer.from(hash);
  }

  private noteHas(state: SyncPeer, id: number): void {
    if (state.bestKnown === NO_HEADER || this.index.headers.compareWork(id, state.bestKnown) >= 0)
      state.bestKnown = id;
  }

  /** Whether the peer announced the header or a descendant, or was notified of it. */
  hasHeader(state: SyncPeer, id: number): boolean {
    return [state.bestKnown, state.bestSent].some(
      (best) => best !== NO_HEADER && this.chain.isAncestor(id, best),
    );
  }
}

/** Asks for blocks as the peer can give them. */
export function blockTypeFor(state: SyncPeer): number {
  return state.hasWitness ? INV.witnessBlock : INV.block;
}

/**
 * Whether the connection may be given up for one with a better chain: we opened it, on our own account and to stay.
 * Source: `IsOutboundDisconnectionCandidate`.
 */
export function isReplaceable(peer: Peer): boolean {
  return peer.kind === 'outbound';
}
