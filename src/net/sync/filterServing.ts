/**
 * Serves compact block filters to light clients (BIP157, `-peerblockfilters`): filters, filter headers, and the filter
 * headers of every 1,000th block. A peer that sends an impossible request is disconnected, as in later Core. Stale branches
 * have no filters, so a request for one gets no response. Source: Core 0.21 net_processing.cpp `PrepareBlockFilterRequest`,
 * `ProcessGetCFilters` and similar functions.
 */
import type { Chain } from '../../chain/chain.js';
import type { BlockFilters } from '../../index/filterIndex.js';
import type { NetworkParams } from '../../params/network.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import type { Logger } from '../../util/logging.js';
import { yieldIfDue } from '../../scheduler/peerQueue.js';
import type { FilterRangeMessage } from '../messages/filters/filterRange.js';
import { CHECKPOINT_INTERVAL, type GetCfcheckptMessage } from '../messages/filters/getcfcheckpt.js';
import { MAX_FILTER_HEADERS } from '../messages/filters/getcfheaders.js';
import { MAX_FILTERS } from '../messages/filters/getcfilters.js';
import type { MessageHandler, Peer } from '../messageHandler.js';
import { mayServe } from './blockServing.js';

/** Filter type "basic", the only one that is supported (BIP158). */
const BASIC = 0;
/** Previous filter header of the genesis block: 32 zero bytes. */
const NO_FILTER_HEADER = Buffer.alloc(32);

export interface FilterServingDeps {
  readonly chain: Chain;
  readonly params: Pick<NetworkParams, 'targetSpacingSec'>;
  /** Index of compact block filters; null if filters are not served. */
  readonly filters: Pick<BlockFilters, 'filter' | 'headers' | 'headersAt'> | null;
  readonly log: Logger;
}

/** A valid request, with its block ids looked up in the active chain. */
interface Asked {
  readonly filters: NonNullable<FilterServingDeps['filters']>;
  /** Header id and height of the last requested block. */
  readonly id: number;
  readonly height: number;
}

export class FilterServing implements MessageHandler {
  readonly handlers = {
    getcfilters: (peer: Peer, message: FilterRangeMessage) => this.onGetFilters(peer, message),
    getcfheaders: (peer: Peer, message: FilterRangeMessage) => this.onGetHeaders(peer, message),
    getcfcheckpt: (peer: Peer, message: GetCfcheckptMessage) => this.onGetCheckpoints(peer, message),
  };
  private readonly deps: FilterServingDeps;

  constructor(deps: FilterServingDeps) {
    this.deps = deps;
  }

  /** Returns the requested data, or null if no response is sent. A peer with an invalid request has been disconnected. */
  private read(
    peer: Peer,
    { filterType, stopHash }: GetCfcheckptMessage,
    startHeight: number,
    limit: number,
  ): Asked | null {
    const { chain, filters } = this.deps;
    if (filters === null || filterType !== BASIC) {
      peer.disconnect(`requested unsupported block filter type: ${filterType}`);
      return null;
    }
    const { headers } = chain.index;
    const id = headers.find(stopHash);
    if (id === NO_HEADER || !mayServe(this.deps, id)) {
      peer.disconnect(`requested invalid block hash: ${Buffer.from(stopHash).reverse().toString('hex')}`);
      return null;
    }
    const height = headers.height(id);
    if (startHeight > height) {
      peer.disconnect(`sent invalid block filter range: ${startHeight} to ${height}`);
      return null;
    }
    if (height - startHeight >= limit) {
      peer.disconnect(`requested too many block filters: ${height - startHeight + 1} of ${limit}`);
      return null;
    }
    return { filters, id, height };
  }

  private async onGetFilters(peer: Peer, message: FilterRangeMessage): Promise<void> {
    const asked = this.read(peer, message, message.startHeight, MAX_FILTERS);
    if (asked === null) return;
    const { active, headers } = this.deps.chain.index;
    if (!active.contains(asked.id)) return;
    // Reads block ids from the current active chain. Blocks that were disconnected after the request are omitted.
    const ids: number[] = [];
    for (let height = message.startHeight; height <= asked.height; height++) ids.push(active.at(height));
    let since = performance.now();
    for (const [i, id] of ids.entries()) {
      if (peer.isSendFull) await peer.sendRoom();
      if (peer.isGone) return;
      const filter = await asked.filters.filter(id, message.startHeight + i);
      if (filter === null) return;
      peer.send('cfilter', { filterType: BASIC, blockHash: Buffer.from(headers.hash(id)), filter });
      since = await yieldIfDue(since, peer);
    }
  }

  private async onGetHeaders(peer: Peer, message: FilterRangeMessage): Promise<void> {
    const { startHeight, stopHash } = message;
    const asked = this.read(peer, message, startHeight, MAX_FILTER_HEADERS);
    if (asked === null) return;
    const first = Math.max(0, startHeight - 1);
    const found = await asked.filters.headers(asked.id, asked.height, first);
    if (found === null || peer.isGone) return;
    const before = startHeight === 0 ? NO_FILTER_HEADER : found[0]!.header;
    const filterHashes = found.slice(startHeight - first).map(({ hash }) => hash);
    peer.send('cfheaders', { filterType: BASIC, stopHash, previousHeader: before, filterHashes });
  }

  private async onGetCheckpoints(peer: Peer, message: GetCfcheckptMessage): Promise<void> {
    const asked = this.read(peer, message, 0, Infinity);
    if (asked === null) return;
    const heights: number[] = [];
    for (let height = CHECKPOINT_INTERVAL; height <= asked.height; height += CHECKPOINT_INTERVAL)
      heights.push(height);
    const filterHeaders = await asked.filters.headersAt(asked.id, asked.height, heights);
    if (filterHeaders === null || peer.isGone) return;
    peer.send('cfcheckpt', { filterType: BASIC, stopHash: message.stopHash, filterHeaders });
  }
}
