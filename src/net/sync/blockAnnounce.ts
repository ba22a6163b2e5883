/**
 * Announces new blocks to peers: by header, as compact block or by inv, as each peer requested. Each block is announced
 * once, and only to peers that have its parent. A block on top of the tip is sent as compact block before it is connected.
 * Source: Core net_processing.cpp `NewPoWValidBlock`, `UpdatedBlockTip`, `SendMessages` (announcements, inventory).
 */
import type { ChainEventMap } from '../../chain/chainEvents.js';
import { formatHeader, HEADER_SIZE_BYTES } from '../../primitives/header.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { hashToHex } from '../../util/bytes.js';
import type { CompactPeers } from '../compact/compactPeers.js';
import { INV } from '../inventory.js';
import type { MessageHandler, Peer } from '../messageHandler.js';
import type { SyncPeer } from './peerTable.js';
import type { RecentBlocks } from './recentBlocks.js';
import type { SyncDeps } from './syncDeps.js';

/** Maximum number of new blocks in one announcement. If there are more new blocks, only the last one is announced. */
export const MAX_BLOCKS_TO_ANNOUNCE = 8;
/** First protocol version with `sendheaders` (BIP130). */
const SENDHEADERS_VERSION = 70_012;
/**
 * First protocol version whose nodes do not ban the sender of an invalid compact block. Such nodes may receive blocks that
 * are not fully checked.
 */
const UNCHECKED_COMPACT_VERSION = 70_015;
/** Number of headers cached for announcements: enough for two announcements of maximum length. */
const HEADERS_KEPT = 2 * MAX_BLOCKS_TO_ANNOUNCE;
/**
 * Maximum difference between the heights of the peer at its start and of this node. A peer that is further ahead gets no
 * announcements.
 */
const START_HEIGHT_SLACK = 2000;

export interface BlockAnnounceDeps extends SyncDeps {
  readonly compact: Pick<CompactPeers, 'prefersCompact' | 'wantsWitness'>;
  readonly recent: RecentBlocks;
}

interface AnnouncePeer {
  prefersHeaders: boolean;
  /** Header ids of new blocks of the active chain that wait to be announced to the peer, in order. */
  pending: number[];
  /** Whether headers for an announcement to the peer are being read from disk. The next announcement waits for the end. */
  isBusy: boolean;
}

export class BlockAnnounce implements MessageHandler {
  readonly handlers = {
    sendheaders: (peer: Peer) => {
      const own = this.own.get(peer.id);
      if (own) own.prefersHeaders = true;
    },
  };
  private readonly deps: BlockAnnounceDeps;
  private readonly own = new Map<number, AnnouncePeer>();
  private readonly listeners: (() => void)[];
  /** Height of the highest block that was announced before it was connected, as compact block. */
  private highestFast = 0;
  /** Headers of the last connected blocks, by header id. */
  private readonly lastHeaders = new Map<number, Buffer>();

  constructor(deps: BlockAnnounceDeps) {
    const { events } = deps.chain;
    this.deps = deps;
    this.listeners = [
      events.on('blockFound', (block) => this.announceFound(block)),
      events.on('blockConnected', (block) => {
        if (deps.chain.isInitialDownload()) return;
        deps.recent.add(block);
        this.keepHeader(block);
      }),
      events.on('tipChanged', (tip) => this.queueNew(tip)),
    ];
  }

  stop(): void {
    for (const remove of this.listeners) remove();
  }

  onVersion(peer: Peer): void {
    this.own.set(peer.id, { prefersHeaders: false, pending: [], isBusy: false });
  }

  onReady(peer: Peer): void {
    if (peer.version!.protocolVersion >= SENDHEADERS_VERSION) peer.send('sendheaders', null);
  }

  onGone(peer: Peer): void {
    this.own.delete(peer.id);
  }

  /**
   * Sends a found block as compact block before it is connected. The block follows the tip and has passed all checks that
   * need no UTXOs.
   */
  private announceFound(found: ChainEventMap['blockFound']): void {
    const { chain, compact, peers, recent, log } = this.deps;
    const { headers, versionBits } = chain.index;
    const { id, height } = found;
    if (height <= this.highestFast) return;
    this.highestFast = height;
    const block = recent.add(found);
    const parent = headers.prev(id);
    const hasWitness = versionBits.isActive('segwit', parent);
    for (const state of peers.ready()) {
      const { peer } = state;
      if (peer.version!.protocolVersion < UNCHECKED_COMPACT_VERSION) continue;
      peers.refresh(state);
      const canRead = compact.prefersCompact(peer) && (!hasWitness || compact.wantsWitness(peer));
      if (!canRead || peers.hasHeader(state, id) || !peers.hasHeader(state, parent)) continue;
      log.debug('net', () => `sending header-and-ids ${hashToHex(found.hash)} to peer=${peer.id}`);
      peer.sendRaw('cmpctblock', block.compactPayload(true));
      state.bestSent = id;
    }
  }

  private keepHeader({ id, raw }: ChainEventMap['blockConnected']): void {
    const kept = this.lastHeaders;
    kept.set(id, Buffer.from(raw.subarray(0, HEADER_SIZE_BYTES)));
    if (kept.size > HEADERS_KEPT) kept.delete(kept.keys().next().value!);
  }

  /**
   * Announces new blocks of the active chain immediately instead of at the next tick. Blocks found in quick succession are
   * therefore announced one by one, instead of as a group that exceeds the limit. The reference wakes its send thread for
   * this purpose.
   */
  private queueNew({ id, height, forkId, initialDownload }: ChainEventMap['tipChanged']): void {
    if (initialDownload) return;
    const { headers } = this.deps.chain.index;
    const fresh: number[] = [];
    for (let at = id; at !== forkId && fresh.length < MAX_BLOCKS_TO_ANNOUNCE; at = headers.prev(at))
      fresh.push(at);
    fresh.reverse();
    for (const state of this.deps.peers.ready()) {
      const { peer } = state;
      const { startHeight } = peer.version!;
      const own = this.own.get(peer.id);
      if (!own || height <= (startHeight === -1 ? 0 : startHeight - START_HEIGHT_SLACK)) continue;
      own.pending.push(...fresh);
      // Keeps at most one block more than the limit, so that `announce` detects the excess and announces only the last
      // block.
      own.pending.splice(0, own.pending.length - MAX_BLOCKS_TO_ANNOUNCE - 1);
      // If the peer does not read, or headers are being read for an earlier announcement, the blocks are announced at the
      // peer's next tick.
      if (!peer.isSendFull && !own.isBusy) this.announce(state, own, own.pending.splice(0));
    }
  }

  onTick(peer: Peer): void {
    const own = this.own.get(peer.id);
    const state = this.deps.peers.get(peer);
    if (own && state && own.pending.length > 0 && !own.isBusy)
      this.announce(state, own, own.pending.splice(0));
  }

  private announce(state: SyncPeer, own: AnnouncePeer, ids: readonly number[]): void {
    const { peers, compact } = this.deps;
    peers.refresh(state);
    const prefersCompact = compact.prefersCompact(state.peer);
    const byHeader = own.prefersHeaders || (prefersCompact && ids.length === 1);
    const unknown = byHeader && ids.length <= MAX_BLOCKS_TO_ANNOUNCE ? this.unknownTo(state, ids) : null;
    if (unknown === null) {
      this.announceById(state, ids.at(-1)!);
      return;
    }
    if (unknown.length === 0) return;
    const last = ids.at(-1)!;
    if (prefersCompact && unknown.length === 1 && this.sendCompact(state, last)) return;
    if (own.prefersHeaders) this.announceByHeaders(state, own, unknown);
    else this.announceById(state, last);
  }

  /**
   * Returns the first of `ids` that the peer does not have, and all ids after it. Returns null if the headers of these
   * blocks would not connect to a header that the peer has, or if the active chain has changed.
   */
  private unknownTo(state: SyncPeer, ids: readonly number[]): number[] | null {
    const { peers, chain } = this.deps;
    const { headers, active } = chain.index;
    const unknown: number[] = [];
    let previous = NO_HEADER;
    for (const id of ids) {
      const parent = headers.prev(id);
      if (!active.contains(id) || (previous !== NO_HEADER && parent !== previous)) return null;
      previous = id;
      if (unknown.length > 0) unknown.push(id);
      else if (!peers.hasHeader(state, id)) {
        if (parent !== NO_HEADER && !peers.hasHeader(state, parent)) return null;
        unknown.push(id);
      }
    }
    return unknown;
  }

  /** Sends a block as compact block if the block is in the cache of recent blocks. Returns whether it was sent. */
  private sendCompact(state: SyncPeer, id: number): boolean {
    const { recent, compact, log } = this.deps;
    const block = recent.find(id);
    if (!block) return false;
    log.debug('net', () => `sending header-and-ids ${hashToHex(block.block.hash)} to peer=${state.peer.id}`);
    state.peer.sendRaw('cmpctblock', block.compactPayload(compact.wantsWitness(state.peer)));
    state.bestSent = id;
    return true;
  }

  private announceByHeaders(state: SyncPeer, own: AnnouncePeer, ids: readonly number[]): void {
    const headers: Buffer[] = [];
    for (const id of ids) {
      const header = this.lastHeaders.get(id);
      if (header) headers.push(header);
    }
    if (headers.length < ids.length) void this.readAndSend(state, own, ids);
    else this.sendHeaders(state, ids, headers);
  }

  private sendHeaders(state: SyncPeer, ids: readonly number[], headers: Buffer[]): void {
    state.peer.send('headers', { headers });
    state.bestSent = ids.at(-1)!;
  }

  private async readAndSend(state: SyncPeer, own: AnnouncePeer, ids: readonly number[]): Promise<void> {
    const { chain, log } = this.deps;
    const { peer } = state;
    own.isBusy = true;
    try {
      const headers: Buffer[] = [];
      for (const id of ids) headers.push(formatHeader(await chain.index.headers.readHeader(id)));
      if (!peer.isGone) this.sendHeaders(state, ids, headers);
    } catch (error) {
      log.warn(`new headers could not be read for peer=${peer.id}: ${String(error)}`);
    } finally {
      own.isBusy = false;
    }
  }

  /**
   * Announces only the last block by inv, unless the peer has it. The block was the tip of this node, but may have been
   * disconnected in the meantime.
   */
  private announceById(state: SyncPeer, id: number): void {
    if (this.deps.peers.hasHeader(state, id)) return;
    const hash = Buffer.from(this.deps.chain.index.headers.hash(id));
    state.peer.send('inv', { items: [{ type: INV.block, hash }] });
  }
}
