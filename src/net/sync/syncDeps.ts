/** What the parts of the block side share: the chain, the clock, the log, and small questions about them. */
import type { Chain } from '../../chain/chain.js';
import type { NetworkParams } from '../../params/network.js';
import { NULL_HASH } from '../../primitives/transaction.js';
import type { Bytes } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import type { Peer } from '../messageHandler.js';
import type { HeaderChain } from '../../chain/index/headerChain.js';
import type { PeerTable } from './peerTable.js';

export interface Clock {
  /** Passes evenly: for time limits. */
  nowMs(): number;
  /** The node's time, which a test may set. */
  nowSec(): number;
  /** The network's time. */
  adjustedTimeSec(): number;
}

export interface SyncDeps {
  readonly chain: Chain;
  readonly headerChain: HeaderChain;
  readonly peers: PeerTable;
  readonly params: Pick<NetworkParams, 'targetSpacingSec'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The protocol that locators name. */
const PROTOCOL_VERSION = 70_015;
/** A tip younger than this many blocks' time is nearly in sync. */
const NEARLY_IN_STEP_BLOCKS = 20;

/**
 * Whether the chain is so nearly in sync that single new blocks are fetched from the peer that announced them.
 * Source: `CanDirectFetch`.
 */
export function isNearlyInStep({ chain, params, clock }: SyncDeps): boolean {
  const oldestSec = clock.adjustedTimeSec() - params.targetSpacingSec * NEARLY_IN_STEP_BLOCKS;
  return chain.index.headers.timeSec(chain.tip) > oldestSec;
}

/**
 * Asks the peer for the headers that follow the branch of `id`, up to `stopHash`; not while it is asked for headers that
 * are not kept yet, since no one could distinguish the answers.
 */
export function sendGetHeaders(deps: SyncDeps, peer: Peer, id: number, stopHash: Bytes = NULL_HASH): void {
  if (deps.peers.get(peer)?.isPresyncing) return;
  askForHeaders(peer, deps.headerChain.locator(id), stopHash);
}

/** Asks for the headers after the first of the locator's that the peer has. */
export function askForHeaders(peer: Peer, locator: Buffer[], stopHash: Bytes = NULL_HASH): void {
  peer.send('getheaders', {
    version: Math.min(peer.version!.protocolVersion, PROTOCOL_VERSION),
    locator,
    stopHash: Buffer.from(stopHash),
  });
}
