/**
 * Handles received blocks: parses and stores each block immediately, and connects it in the background. A peer that sends
 * blocks faster than they are connected must wait. Source: Core net_processing.cpp `BLOCK`, validation.cpp
 * `ProcessNewBlock`.
 */
import { loadBlock, type LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import { REJECT_CODE } from '../../consensus/reject.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { hashToHex } from '../../util/bytes.js';
import { ReadError } from '../../util/reader.js';
import type { Payload } from '../messages/table.js';
import type { MessageHandler, Peer } from '../messageHandler.js';
import type { BlockConnector } from './blockConnector.js';
import type { BlockRequests } from './blockRequests.js';
import { refuseBlock, type BlockSources } from './blockSources.js';
import type { BlocksInFlight } from './blocksInFlight.js';
import type { SyncDeps } from './syncDeps.js';

export interface BlockReceiverDeps extends Pick<SyncDeps, 'chain' | 'log'> {
  readonly inFlight: BlocksInFlight;
  readonly requests: Pick<BlockRequests, 'topUp'>;
  readonly connector: BlockConnector;
  readonly sources: BlockSources;
}

/** Circumstances under which a block was received. */
export interface Delivery {
  /** Whether this node requested the block. A requested block is stored even if it cannot become the tip. */
  requested: boolean;
  /** Whether the peer is punished if the block is invalid. */
  mayPunish: boolean;
}

export class BlockReceiver implements MessageHandler {
  readonly handlers = {
    block: (peer: Peer, { raw }: Payload<'block'>) => this.onBlock(peer, raw),
  };
  private readonly deps: BlockReceiverDeps;
  /** Ids of peers that sent a block whose connection may be incomplete. */
  private readonly awaited = new Set<number>();

  constructor(deps: BlockReceiverDeps) {
    this.deps = deps;
  }

  private async onBlock(peer: Peer, raw: Buffer): Promise<void> {
    const { chain, inFlight, log } = this.deps;
    if (chain.importing) return;
    let block: LoadedBlock;
    try {
      block = loadBlock(raw);
    } catch (error) {
      if (!(error instanceof ReadError)) throw error;
      log.debug('net', `block (${raw.length} bytes) from peer=${peer.id} is malformed: ${error.message}`);
      peer.reject('block', REJECT_CODE.MALFORMED, 'error parsing message');
      return;
    }
    log.debug('net', () => `received block ${hashToHex(block.hash)} peer=${peer.id}`);
    const id = chain.index.headers.find(block.hash);
    const requested = id !== NO_HEADER && inFlight.receive(id);
    // For an unrequested block, first waits for the peer's earlier blocks, because the tip decides whether the block is
    // wanted.
    if (!requested) await this.pendingEffect(peer);
    await this.take(peer, block, { requested, mayPunish: true });
  }

  onGone(peer: Peer): void {
    this.awaited.delete(peer.id);
  }

  /**
   * Returns a promise that resolves when the peer's blocks are connected as far as possible; null if none waits for its
   * connection.
   */
  pendingEffect(peer: Peer): Promise<void> | null {
    if (!this.awaited.has(peer.id)) return null;
    const { connector, inFlight } = this.deps;
    const pending = connector.pending();
    if (pending !== null) return inFlight.holding(peer, () => pending);
    this.awaited.delete(peer.id);
    return null;
  }

  /**
   * Stores a block and connects it in the background. Resolves after the block is stored, or later if the backlog is too
   * large. Rejects only for errors of the environment, such as a full disk.
   */
  async take(peer: Peer, block: LoadedBlock, { requested, mayPunish }: Delivery): Promise<void> {
    const { chain, inFlight, connector, requests, sources, log } = this.deps;
    const { headers } = chain.index;
    const parent = headers.find(block.header.prevHash);
    const isNewHeader = headers.find(block.hash) === NO_HEADER;
    if (isNewHeader && parent !== NO_HEADER && chain.acceptance.isWeakBranch(parent, block.header.bits)) {
      log.debug('net', () => `ignoring block ${hashToHex(block.hash)} of a low-work branch, peer=${peer.id}`);
      return;
    }
    const { id, error, isNew } = chain.acceptBlock(block, requested);
    if (error) refuseBlock(peer, block.hash, error, mayPunish);
    if (isNew) {
      sources.note(id, peer, mayPunish);
      peer.noteUseful('block');
      connector.noteAccepted(id, block.raw.length);
      void connector.request();
    }
    if (peer.isGone) return;
    if (!error) this.awaited.add(peer.id);
    requests.topUp(peer);
    if (connector.isCongested) await inFlight.holding(peer, () => connector.drained());
  }
}
