/**
 * Records the sender of each block until the block is verified, so that the peer can be punished or credited for the result.
 * Source: Core net_processing.cpp `mapBlockSource`, `BlockChecked`.
 */
import type { ChainEventMap } from '../../chain/chainEvents.js';
import { REJECT_CODE, type ValidationError } from '../../consensus/reject.js';
import type { CompactPeers } from '../compact/compactPeers.js';
import { MAX_REJECT_REASON_LENGTH } from '../messages/reject.js';
import type { Peer } from '../messageHandler.js';
import type { BlocksInFlight } from './blocksInFlight.js';
import type { SyncDeps } from './syncDeps.js';

/**
 * Maximum number of entries. The oldest entries are removed, because blocks that wait for an ancestor or are never connected
 * would accumulate.
 */
const MAX_SOURCES = 4096;

interface Source {
  readonly peer: Peer;
  readonly mayPunish: boolean;
}

export interface BlockSourcesDeps extends Pick<SyncDeps, 'chain'> {
  readonly inFlight: BlocksInFlight;
  readonly compact: Pick<CompactPeers, 'noteUseful'>;
}

export class BlockSources {
  private readonly deps: BlockSourcesDeps;
  /** Sender of each unverified block, by header id. */
  private readonly sources = new Map<number, Source>();
  readonly stop: () => void;

  constructor(deps: BlockSourcesDeps) {
    this.deps = deps;
    this.stop = deps.chain.events.on('blockChecked', (event) => this.onChecked(event));
  }

  /**
   * Records the sender of a block. `mayPunish` is false for a compact block that the peer may relay before full validation
   * (BIP152).
   */
  note(id: number, peer: Peer, mayPunish: boolean): void {
    this.sources.set(id, { peer, mayPunish });
    if (this.sources.size > MAX_SOURCES) this.sources.delete(this.sources.keys().next().value!);
  }

  private onChecked({ id, hash, error }: ChainEventMap['blockChecked']): void {
    const source = this.sources.get(id);
    this.sources.delete(id);
    if (!source) return;
    const { chain, inFlight, compact } = this.deps;
    if (error) refuseBlock(source.peer, Buffer.from(hash), error, source.mayPunish);
    // If no other block is in flight, this block is the best known block, even if it is not the tip yet.
    else if (!chain.isInitialDownload() && inFlight.size === (inFlight.has(id) ? 1 : 0))
      compact.noteUseful(source.peer);
  }
}

/**
 * Rejects a peer's block: sends the reason and punishes the peer. For an error without a BIP61 code, no reason is sent and
 * the peer is not punished.
 */
export function refuseBlock(peer: Peer, hash: Buffer, error: ValidationError, mayPunish: boolean): void {
  const { rejectCode, reason, dosScore } = error;
  if (peer.isGone || rejectCode === REJECT_CODE.NONE || rejectCode >= REJECT_CODE.HIGH_FEE) return;
  peer.reject('block', rejectCode, reason.slice(0, MAX_REJECT_REASON_LENGTH), hash);
  if (mayPunish && dosScore > 0) peer.punish(dosScore, reason);
}
