/** Dependencies shared by the message handlers for blocks: the chain, the clock, the log, and small functions. */
import type { Chain } from '../../chain/chain.js';
import type { NetworkParams } from '../../params/network.js';
import { NULL_HASH } from '../../primitives/transaction.js';
import type { Bytes } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import type { Peer } from '../messageHandler.js';
import type { HeaderChain } from '../../chain/index/headerChain.js';
import type { PeerTable } from './peerTable.js';

export interface NodeClock {
  /** Monotonic time in ms, used for time limits. */
  nowMs(): number;
  /** Unix time of the node's clock, which a test may replace. */
  nowSec(): number;
  /** Returns the network-adjusted time in seconds since 1970. */
  adjustedTimeSec(): number;
}

export interface SyncDeps {
  readonly chain: Chain;
  readonly headerChain: HeaderChain;
  readonly peers: PeerTable;
  readonly params: Pick<NetworkParams, 'targetSpacingSec'>;
  readonly clock: NodeClock;
  readonly log: Logger;
}

/** Protocol version written in locators. */
const PROTOCOL_VERSION = 70_015;
/** Maximum age of the tip, in block intervals, at which the chain counts as nearly in sync. */
const NEARLY_IN_STEP_BLOCKS = 20;

/**
 * Whether the chain is nearly in sync. New blocks are then requested directly from the announcing peer. Source:
 * `CanDirectFetch`.
 */
export function isNearlyInStep({ chain, params, clock }: SyncDeps): boolean {
  const oldestSec = clock.adjustedTimeSec() - params.targetSpacingSec * NEARLY_IN_STEP_BLOCKS;
  return chain.index.headers.timeSec(chain.tip) > oldestSec;
}

/**
 * Requests the headers after the locator of `id`, up to `stopHash`. Without effect during a two-pass header sync with the
 * peer, because its responses could be confused with those of the sync.
 */
export function sendGetHeaders(deps: SyncDeps, peer: Peer, id: number, stopHash: Bytes = NULL_HASH): void {
  if (deps.peers.get(peer)?.isPresyncing) return;
  askForHeaders(peer, deps.headerChain.locator(id), stopHash);
}

/** Requests the headers after the first block of the locator that the peer has. */
export function askForHeaders(peer: Peer, locator: Buffer[], stopHash: Bytes = NULL_HASH): void {
  peer.send('getheaders', {
    version: Math.min(peer.version!.protocolVersion, PROTOCOL_VERSION),
    locator,
    stopHash: Buffer.from(stopHash),
  });
}
