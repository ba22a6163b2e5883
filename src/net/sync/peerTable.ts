/**
 * State of each peer's chain: its best block, the best header sent to it, and whether blocks can be downloaded from it. It
 * has the state that several message handlers use; other state is in the handlers. Source: Core net_processing.cpp
 * `CNodeState`, `ProcessBlockAvailability`, `UpdateBlockAvailability`, `PeerHasHeader`.
 */
import type { BlockIndex } from '../../chain/index/blockIndex.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { INV } from '../inventory.js';
import type { MessageHandler, Peer, PeerStateInfo } from '../messageHandler.js';
import { NODE } from '../services.js';
import type { HeaderChain } from '../../chain/index/headerChain.js';

export interface SyncPeer {
  readonly peer: Peer;
  /** Whether it serves no blocks. */
  readonly isClient: boolean;
  /** Whether it serves only the latest blocks (BIP159). */
  readonly isLimited: boolean;
  readonly hasWitness: boolean;
  /** Whether it is preferred for block downloads. */
  readonly isPreferred: boolean;
  /** Header ids, or `NO_HEADER`: the best block that the peer announced, */
  bestKnown: number;
  /** the last common block, */
  lastCommon: number;
  /** and the best header that we sent. */
  bestSent: number;
  /** The last announced block whose header is unknown, in wire order. */
  unknownHash: Buffer | null;
  /** Time of its last announcement of a new block better than our tip; 0 for never. */
  lastAnnouncementSec: number;
  /** Whether all headers were requested from it. */
  syncStarted: boolean;
  /** Whether a two-pass header sync is running, during which no other headers are requested. */
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

  /** Number of preferred peers. */
  get preferredCount(): number {
    return this.preferred;
  }

  /** Number of peers from which all headers were requested. */
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

  /** Whether to download from it: it is preferred, or there is no preferred peer and it serves blocks. */
  mayFetchFrom({ isPreferred, isClient, peer }: SyncPeer): boolean {
    return isPreferred || (this.preferred === 0 && !isClient && peer.kind !== 'oneShot');
  }

  /** Checks whether the header of the last unknown announced block is known now. */
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

  /** Whether the peer announced the header or a descendant, or received it from us. */
  hasHeader(state: SyncPeer, id: number): boolean {
    return [state.bestKnown, state.bestSent].some(
      (best) => best !== NO_HEADER && this.chain.isAncestor(id, best),
    );
  }
}

/** Inventory type for blocks, depending on the peer's services. */
export function blockTypeFor(state: SyncPeer): number {
  return state.hasWitness ? INV.witnessBlock : INV.block;
}

/**
 * Whether the connection may be closed in favour of a peer with a better chain: an automatic, permanent outbound connection.
 * Source: `IsOutboundDisconnectionCandidate`.
 */
export function isReplaceable(peer: Peer): boolean {
  return peer.kind === 'outbound';
}
