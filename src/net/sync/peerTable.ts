/**
 * State of each peer's chain: its best block, the best header sent to it, and whether blocks can be downloaded from it.
 * Contains only the state that several message handlers use. Source: Core net_processing.cpp `CNodeState`,
 * `ProcessBlockAvailability`, `UpdateBlockAvailability`, `PeerHasHeader`.
 */
import type { BlockIndex } from '../../chain/index/blockIndex.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { INV } from '../inventory.js';
import type { MessageHandler, Peer, PeerStateInfo } from '../messageHandler.js';
import { NODE } from '../services.js';
import type { HeaderChain } from '../../chain/index/headerChain.js';

export interface SyncPeer {
  readonly peer: Peer;
  /** Whether the peer serves no blocks. */
  readonly isClient: boolean;
  /** Whether the peer serves only the latest blocks (BIP159). */
  readonly isLimited: boolean;
  readonly hasWitness: boolean;
  /** Whether the peer is preferred for block downloads. */
  readonly isPreferred: boolean;
  /** Header id of the best block that the peer announced, or `NO_HEADER`. */
  bestKnown: number;
  /** Header id of the last common block of the peer's chain and the chain of this node, or `NO_HEADER`. */
  lastCommon: number;
  /** Header id of the best header that this node sent to the peer, or `NO_HEADER`. */
  bestSent: number;
  /** Hash of the last block that the peer announced and whose header is unknown, in wire order. */
  unknownHash: Buffer | null;
  /** Unix time at which the peer last announced a new block with more work than the tip of this node; 0 for never. */
  lastAnnouncementSec: number;
  /** Whether the initial header download from the peer was started. */
  syncStarted: boolean;
  /** Whether a two-pass header sync with the peer is running. During the sync no other headers are requested from the peer. */
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

  /** Number of peers that are preferred for block downloads. */
  get preferredCount(): number {
    return this.preferred;
  }

  /** Number of peers with which the initial header download was started. */
  get syncingCount(): number {
    let count = 0;
    for (const { syncStarted } of this.peers.values()) if (syncStarted) count++;
    return count;
  }

  get(peer: Peer): SyncPeer | undefined {
    return this.peers.get(peer.id);
  }

  /** Iterates over the peers whose handshake is complete. */
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

  /** Whether to download blocks from the peer: the peer is preferred, or no peer is preferred and this peer serves blocks. */
  mayFetchFrom({ isPreferred, isClient, peer }: SyncPeer): boolean {
    return isPreferred || (this.preferred === 0 && !isClient && peer.kind !== 'oneShot');
  }

  /** Updates the peer's best block if this node has received the header of the last unknown block that the peer announced. */
  refresh(state: SyncPeer): void {
    if (state.unknownHash === null) return;
    const id = this.index.headers.find(state.unknownHash);
    if (id === NO_HEADER) return;
    this.noteHas(state, id);
    state.unknownHash = null;
  }

  /** Records that the peer announced a block. */
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

  /** Whether the peer has the header: it announced the header or a descendant of it, or received one of these from this node. */
  hasHeader(state: SyncPeer, id: number): boolean {
    return [state.bestKnown, state.bestSent].some(
      (best) => best !== NO_HEADER && this.chain.isAncestor(id, best),
    );
  }
}

/** Returns the inventory type for block requests to the peer: with witness if the peer serves witnesses. */
export function blockTypeFor(state: SyncPeer): number {
  return state.hasWitness ? INV.witnessBlock : INV.block;
}

/**
 * Whether the peer may be disconnected in favour of a peer with a better chain. True only for automatic outbound peers that
 * are not feelers. Source: `IsOutboundDisconnectionCandidate`.
 */
export function isReplaceable(peer: Peer): boolean {
  return peer.kind === 'outbound';
}
