/**
 * Receives compact blocks. It reconstructs them from mempool transactions, and requests missing transactions, or the full
 * block if the reconstruction fails. Source: Core net_processing.cpp `CMPCTBLOCK`, `BLOCKTXN`; BIP152.
 */
import { headerHash, parseHeaderBytes } from '../../primitives/header.js';
import { NO_HEADER, STATUS } from '../../store/files/headerTable.js';
import { hashToHex } from '../../util/bytes.js';
import { yieldIfDue } from '../../scheduler/peerQueue.js';
import type { Payload } from '../messages/table.js';
import type { MessageHandler, Peer } from '../messageHandler.js';
import type { BlockReceiver } from '../sync/blockReceiver.js';
import { MAX_BLOCKS_IN_TRANSIT, type BlockRequests } from '../sync/blockRequests.js';
import type { BlockInFlight, BlocksInFlight } from '../sync/blocksInFlight.js';
import type { HeadersSync } from '../sync/headersSync.js';
import type { SyncPeer } from '../sync/peerTable.js';
import { isNearlyInStep, sendGetHeaders, type SyncDeps } from '../sync/syncDeps.js';
import { PartialBlock, type Candidate } from './compactBlock.js';
import type { CompactPeers } from './compactPeers.js';
import type { ExtraTransactions } from './extraTransactions.js';

/** Maximum height above the tip up to which a block is reconstructed from mempool transactions. */
const MAX_AHEAD = 2;
/** Number of mempool transactions that are processed between two yields to the event loop. */
const PORTION = 2000;

export interface CompactRelayDeps extends SyncDeps {
  readonly inFlight: BlocksInFlight<PartialBlock>;
  readonly compact: Pick<CompactPeers, 'supportsWanted'>;
  readonly extra: ExtraTransactions;
  /** Transactions of the mempool, which are candidates for blocks. */
  readonly mempool: { transactions(): Iterable<Candidate> };
  readonly headersSync: Pick<HeadersSync, 'process'>;
  readonly requests: Pick<BlockRequests, 'askWhole'>;
  readonly receiver: Pick<BlockReceiver, 'take'>;
}

export class CompactRelay implements MessageHandler {
  readonly handlers = {
    cmpctblock: (peer: Peer, message: Payload<'cmpctblock'>) => this.onCompactBlock(peer, message),
    blocktxn: (peer: Peer, message: Payload<'blocktxn'>) => this.onTransactions(peer, message),
  };
  private readonly deps: CompactRelayDeps;

  constructor(deps: CompactRelayDeps) {
    this.deps = deps;
  }

  private async onCompactBlock(peer: Peer, message: Payload<'cmpctblock'>): Promise<void> {
    const { chain, clock, peers, log } = this.deps;
    const { headers, bestHeader } = chain.index;
    const state = peers.get(peer);
    if (!state || chain.importing) return;
    const { prevHash, bits } = parseHeaderBytes(message.header);
    const parent = headers.find(prevHash);
    if (parent === NO_HEADER) {
      if (!chain.isInitialDownload()) sendGetHeaders(this.deps, peer, bestHeader);
      return;
    }
    const hash = headerHash(message.header);
    const hasNews = headers.find(hash) === NO_HEADER;
    if (hasNews && chain.acceptance.isWeakBranch(parent, bits)) {
      log.debug('net', () => `ignoring low-work compact block ${hashToHex(hash)} from peer=${peer.id}`);
      return;
    }
    const { last: id, error } = chain.acceptHeaders([message.header]);
    if (error) {
      if (error.dosScore > 0) peer.punish(error.dosScore, 'invalid header received via cmpctblock');
      return;
    }
    peers.noteAnnounced(state, hash);
    if (hasNews && headers.compareWork(id, chain.tip) > 0) state.lastAnnouncementSec = clock.nowSec();
    if (headers.hasStatus(id, STATUS.haveData)) return;
    await this.followAnnouncement(state, id, message);
  }

  /** Handles a compact block whose header is valid and whose transactions are not stored. */
  private async followAnnouncement(
    state: SyncPeer,
    id: number,
    message: Payload<'cmpctblock'>,
  ): Promise<void> {
    const { chain, compact, headersSync, inFlight, requests } = this.deps;
    const { headers, versionBits } = chain.index;
    const { peer } = state;
    const flying = inFlight.get(id);
    const isBeaten = headers.compareWork(id, chain.tip) <= 0;
    // The block is not reconstructed if the active chain has more work, or if the block was stored before and pruned.
    if (isBeaten || headers.txCount(id) !== 0) {
      if (flying) requests.askWhole(state, id);
      return;
    }
    if (!flying && !isNearlyInStep(this.deps)) return;
    const needsWitness = versionBits.isActive('segwit', headers.prev(id));
    if (needsWitness && !compact.supportsWanted(peer)) return;
    if (headers.height(id) > chain.height + MAX_AHEAD) {
      if (flying) requests.askWhole(state, id);
      else await headersSync.process(peer, [message.header], false);
      return;
    }
    const isFree = !flying && inFlight.countFrom(peer) < MAX_BLOCKS_IN_TRANSIT;
    if (isFree || flying?.peer.id === peer.id) await this.reconstruct(state, id, message);
    else await this.reconstructAtOnce(peer, id, message);
  }

  /** Reconstructs the block as far as possible, and requests the missing transactions. */
  private async reconstruct(state: SyncPeer, id: number, message: Payload<'cmpctblock'>): Promise<void> {
    const { inFlight, log } = this.deps;
    const { peer } = state;
    const entry = inFlight.request(peer, id);
    if (entry.partial) {
      log.debug('net', `Peer=${peer.id} sent us compact block we were already syncing!`);
      return;
    }
    const begun = PartialBlock.begin(message);
    if (begun.status !== 'ok') {
      this.giveUp(state, id, begun.status, 'invalid compact block');
      return;
    }
    entry.partial = begun.partial;
    await this.fill(peer, begun.partial);
    // Another peer may have sent the block during the wait.
    if (peer.isGone || inFlight.get(id) !== entry) return;
    const indexes = begun.partial.missing();
    if (indexes.length === 0) await this.complete(state, entry, []);
    else peer.send('getblocktxn', { blockHash: headerHash(message.header), indexes });
  }

  /**
   * Ends the reconstruction, because the peer violated the protocol or because short ids collide. After a collision the full
   * block is requested.
   */
  private giveUp(state: SyncPeer, id: number, status: 'invalid' | 'failed', reason: string): void {
    if (status === 'failed') {
      this.deps.requests.askWhole(state, id);
      return;
    }
    this.deps.inFlight.receive(id);
    state.peer.punish(100, reason);
  }

  private async fill(peer: Peer, partial: PartialBlock): Promise<void> {
    const { mempool, extra } = this.deps;
    let since = performance.now();
    let portion: Candidate[] = [];
    for (const candidate of mempool.transactions()) {
      portion.push(candidate);
      if (portion.length < PORTION) continue;
      if (!partial.fill(portion)) return;
      portion = [];
      since = await yieldIfDue(since, peer);
    }
    if (partial.fill(portion)) partial.fill(extra.all());
  }

  /**
   * Handles a compact block if the block is already requested from another peer, or if this peer has too many pending
   * requests. Tries to reconstruct the block without requesting transactions; if some are missing, the message is dropped.
   */
  private async reconstructAtOnce(peer: Peer, id: number, message: Payload<'cmpctblock'>): Promise<void> {
    const { chain, inFlight, receiver } = this.deps;
    const { headers } = chain.index;
    const begun = PartialBlock.begin(message);
    if (begun.status !== 'ok') return;
    await this.fill(peer, begun.partial);
    const completed = begun.partial.complete([]);
    if (completed.status !== 'ok' || peer.isGone) return;
    await receiver.take(peer, completed.block, { requested: true, mayPunish: false });
    // The pending request is removed only if the block proved valid. Otherwise a peer that tampers with a block could
    // prevent the download of the valid one.
    if (headers.hasStatus(id, STATUS.validTransactions) && !headers.isFailed(id)) inFlight.receive(id);
  }

  private async onTransactions(peer: Peer, { blockHash, txs }: Payload<'blocktxn'>): Promise<void> {
    const { chain, inFlight, peers, log } = this.deps;
    const state = peers.get(peer);
    if (!state || chain.importing) return;
    const entry = inFlight.get(chain.index.headers.find(blockHash));
    if (!entry?.partial || entry.peer.id !== peer.id) {
      log.debug('net', `Peer ${peer.id} sent us block transactions for block we weren't expecting`);
      return;
    }
    await this.complete(state, entry, txs);
  }

  private async complete(
    state: SyncPeer,
    entry: BlockInFlight<PartialBlock>,
    txs: readonly Buffer[],
  ): Promise<void> {
    const { inFlight, receiver, log } = this.deps;
    const { peer } = state;
    const partial = entry.partial!;
    const { prefilled, found } = partial.counts;
    entry.partial = null;
    const completed = partial.complete(txs);
    if (completed.status !== 'ok') {
      this.giveUp(state, entry.id, completed.status, 'invalid compact block/non-matching block transactions');
      return;
    }
    log.debug(
      'cmpctblock',
      () =>
        `Successfully reconstructed block ${hashToHex(completed.block.hash)} with ${prefilled} txn prefilled, ${found} txn from mempool and ${txs.length} txn requested`,
    );
    inFlight.receive(entry.id);
    // A peer may relay a block before it has validated the block completely, so the peer is not punished for the content.
    await receiver.take(peer, completed.block, { requested: true, mayPunish: false });
  }
}
