/**
 * Serves getheaders and getblocks: the headers or block ids after a locator. Source: Core net_processing.cpp `GETHEADERS`,
 * `GETBLOCKS`.
 */
import { MIN_BLOCKS_TO_KEEP } from '../../chain/blocks/acceptance.js';
import { formatHeader } from '../../primitives/header.js';
import { NO_HEADER, STATUS } from '../../store/files/headerTable.js';
import { equalBytes } from '../../util/bytes.js';
import { yieldIfDue } from '../../scheduler/peerQueue.js';
import { INV, type InvItem } from '../inventory.js';
import { MAX_LOCATOR_HASHES } from '../messages/getblocks.js';
import { MAX_HEADERS } from '../messages/headers.js';
import type { Payload } from '../messages/table.js';
import type { MessageHandler, Peer } from '../messageHandler.js';
import type { BlockConnector } from './blockConnector.js';
import { mayServe, type BlockServing } from './blockServing.js';
import type { SyncDeps } from './syncDeps.js';

/** Maximum number of block ids in the response to getblocks. */
const MAX_BLOCK_IDS = 500;
/** Minimum number of seconds for which an announced block must not be pruned, so that the peer can request it. */
const PRUNE_MARGIN_SEC = 60 * 60;

export interface HeaderServingOptions {
  /** Whether this node prunes old blocks (`-prune`). */
  prunes: boolean;
}

export interface HeaderServingDeps extends SyncDeps {
  readonly connector: BlockConnector;
  readonly blocks: Pick<BlockServing, 'setContinue'>;
}

export class HeaderServing implements MessageHandler {
  readonly handlers = {
    getheaders: (peer: Peer, message: Payload<'getheaders'>) => this.onGetHeaders(peer, message),
    getblocks: (peer: Peer, message: Payload<'getblocks'>) => this.onGetBlocks(peer, message),
  };
  private readonly options: HeaderServingOptions;
  private readonly deps: HeaderServingDeps;

  constructor(options: HeaderServingOptions, deps: HeaderServingDeps) {
    this.options = options;
    this.deps = deps;
  }

  private refusesLocator(peer: Peer, command: string, { length }: readonly Buffer[]): boolean {
    if (length <= MAX_LOCATOR_HASHES) return false;
    peer.disconnect(`${command} locator size ${length} > ${MAX_LOCATOR_HASHES}`);
    return true;
  }

  private async onGetHeaders(peer: Peer, { locator, stopHash }: Payload<'getheaders'>): Promise<void> {
    const { chain, peers, log } = this.deps;
    const { headers } = chain.index;
    if (this.refusesLocator(peer, 'getheaders', locator)) return;
    if (chain.isInitialDownload() && !peer.isWhitelisted) {
      log.debug('net', `Ignoring getheaders from peer=${peer.id} because node is in initial block download`);
      return;
    }
    const first = this.firstHeader(locator, stopHash);
    if (first === null) return;
    const ids = this.idsFrom(first, stopHash);
    // Records the last header that was sent, or the tip if the response is empty. An earlier, higher value is not kept,
    // because the peer may lack headers that it did not request.
    const bestSent = ids.at(-1) ?? chain.tip;
    const list: Buffer[] = [];
    let since = performance.now();
    for (const id of ids) {
      list.push(formatHeader(await headers.readHeader(id)));
      since = await yieldIfDue(since, peer);
    }
    if (peer.isGone) return;
    peer.send('headers', { headers: list });
    const state = peers.get(peer);
    if (state) state.bestSent = bestSent;
  }

  /** Returns the first header id to send, `NO_HEADER` for an empty response, or null for no response. */
  private firstHeader(locator: readonly Buffer[], stopHash: Buffer): number | null {
    const { chain, headerChain } = this.deps;
    if (locator.length > 0) return chain.index.active.next(headerChain.findFork(locator));
    const id = chain.index.headers.find(stopHash);
    return id !== NO_HEADER && mayServe(this.deps, id) ? id : null;
  }

  private idsFrom(first: number, stopHash: Buffer): number[] {
    const { headers, active } = this.deps.chain.index;
    const ids: number[] = [];
    for (let id = first; id !== NO_HEADER; id = active.next(id)) {
      ids.push(id);
      if (ids.length === MAX_HEADERS || equalBytes(headers.hash(id), stopHash)) break;
    }
    return ids;
  }

  private async onGetBlocks(peer: Peer, { locator, stopHash }: Payload<'getblocks'>): Promise<void> {
    const { chain, connector, headerChain, blocks } = this.deps;
    const { headers, active } = chain.index;
    if (this.refusesLocator(peer, 'getblocks', locator)) return;
    // The peer may know a block that is still being connected, so the end of its connection is awaited first.
    if (!chain.isInitialDownload()) await connector.request();
    if (peer.isGone) return;
    const items: InvItem[] = [];
    for (let id = active.next(headerChain.findFork(locator)); id !== NO_HEADER; id = active.next(id)) {
      const hash = Buffer.from(headers.hash(id));
      if (equalBytes(hash, stopHash) || this.isSoonPruned(id)) break;
      items.push({ type: INV.block, hash });
      if (items.length < MAX_BLOCK_IDS) continue;
      blocks.setContinue(peer, hash);
      break;
    }
    if (items.length > 0) peer.send('inv', { items });
  }

  private isSoonPruned(id: number): boolean {
    const { chain, params } = this.deps;
    if (!this.options.prunes && chain.index.snapshotHeight < 0) return false;
    const { headers } = chain.index;
    const kept = MIN_BLOCKS_TO_KEEP - Math.floor(PRUNE_MARGIN_SEC / params.targetSpacingSec);
    return !headers.hasStatus(id, STATUS.haveData) || headers.height(id) <= chain.height - kept;
  }
}
