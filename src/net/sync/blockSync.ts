/**
 * Creates the message handlers for blocks in their calling order, and provides the interface to them for other modules.
 * Contains no rules.
 */
import type { Chain } from '../../chain/chain.js';
import type { NetworkParams } from '../../params/network.js';
import type { Logger } from '../../util/logging.js';
import type { Candidate, PartialBlock } from '../compact/compactBlock.js';
import { CompactPeers } from '../compact/compactPeers.js';
import { CompactRelay } from '../compact/compactRelay.js';
import { CompactServing } from '../compact/compactServing.js';
import { ExtraTransactions } from '../compact/extraTransactions.js';
import type { MessageHandler, Peer, RandomSource } from '../messageHandler.js';
import { BlockConnector } from './blockConnector.js';
import { BlockAnnounce } from './blockAnnounce.js';
import { BlockReceiver } from './blockReceiver.js';
import { BlockRequests, type BlockRequestsOptions } from './blockRequests.js';
import { BlocksInFlight } from './blocksInFlight.js';
import { BlockServing, type BlockFilter } from './blockServing.js';
import { BlockSources } from './blockSources.js';
import { GetData } from './getData.js';
import { HeaderServing } from './headerServing.js';
import { HeadersSync } from './headersSync.js';
import { StaleTipEviction } from './staleTipEviction.js';
import { PeerTable } from './peerTable.js';
import { RecentBlocks } from './recentBlocks.js';
import type { NodeClock } from './syncDeps.js';
import { UploadTarget } from './uploadTarget.js';

export interface BlockSyncOptions extends BlockRequestsOptions {
  params: Pick<NetworkParams, 'targetSpacingSec'>;
  /** `-prune`. */
  prunes: boolean;
  /** Daily upload limit in bytes (`-maxuploadtarget`); 0 for no limit. */
  uploadTargetBytes: number;
  /** `-blockreconstructionextratxn`. */
  extraTransactions: number;
}

export interface BlockSyncDeps {
  chain: Chain;
  mempool: { transactions(): Iterable<Candidate> };
  clock: NodeClock;
  random: RandomSource;
  log: Logger;
  localServices: () => bigint;
  /** Returns the peer's bloom filter for filtered blocks (BIP37). */
  blockFilterOf: (peer: Peer) => BlockFilter;
}

export interface BlockSync {
  /** Message handlers for blocks, in calling order. The handlers for transactions and addresses are called after them. */
  readonly parts: readonly MessageHandler[];
  readonly peers: PeerTable;
  readonly inFlight: BlocksInFlight;
  readonly connector: BlockConnector;
  /** Dispatcher of getdata. Servers of other inventory types are registered on it. */
  readonly getData: GetData;
  readonly staleTips: StaleTipEviction;
  readonly uploadTarget: UploadTarget;
  readonly extraTransactions: ExtraTransactions;
  /** Removes all chain event listeners. */
  stop(): void;
}

export function makeBlockSync(options: BlockSyncOptions, deps: BlockSyncDeps): BlockSync {
  const { chain, clock, random, log } = deps;
  const { minimumChainWork, params } = options;
  const { headerChain } = chain;
  const peers = new PeerTable({ index: chain.index, headerChain });
  const shared = { chain, headerChain, peers, params, clock, log };
  const inFlight = new BlocksInFlight<PartialBlock>({ nowMs: () => clock.nowMs() });
  const compact = new CompactPeers();
  const connector = new BlockConnector(chain);
  const sources = new BlockSources({ chain, inFlight, compact });
  const staleTips = new StaleTipEviction({ ...shared, inFlight });
  const requests = new BlockRequests(options, { ...shared, inFlight, compact });
  const headersSync = new HeadersSync({ minimumChainWork }, { ...shared, requests, staleTips, random });
  const receiver = new BlockReceiver({ chain, log, inFlight, requests, connector, sources });
  const recent = new RecentBlocks(random);
  const announce = new BlockAnnounce({ ...shared, compact, recent });
  const uploadTarget = new UploadTarget(
    { targetBytes: options.uploadTargetBytes },
    { nowSec: () => clock.nowSec() },
  );
  const { localServices, blockFilterOf, mempool } = deps;
  const blocks = new BlockServing({
    ...shared,
    connector,
    recent,
    compact,
    uploadTarget,
    random,
    localServices,
    blockFilterOf,
  });
  const headerServing = new HeaderServing({ prunes: options.prunes }, { ...shared, connector, blocks });
  const extra = new ExtraTransactions({ capacity: options.extraTransactions });
  const compactRelay = new CompactRelay({
    ...shared,
    inFlight,
    compact,
    extra,
    mempool,
    headersSync,
    requests,
    receiver,
  });
  const compactServing = new CompactServing({ chain, log, compact, recent, blocks });
  const getData = new GetData();
  getData.addServer(blocks);
  return {
    // The peer table must be the first handler, because the other handlers use it. Announcements are sent before requests.
    parts: [
      peers,
      headersSync,
      announce,
      compact,
      staleTips,
      requests,
      receiver,
      compactRelay,
      compactServing,
      headerServing,
      getData,
      blocks,
    ],
    peers,
    inFlight,
    connector,
    getData,
    staleTips,
    uploadTarget,
    extraTransactions: extra,
    stop() {
      for (const part of [connector, sources, staleTips, announce]) part.stop();
    },
  };
}
