/**
 * The senders of blocks, until the blocks are verified: a verdict that comes while connecting it reaches
 * the peer, and so does the thanks. Source: Core net_processing.cpp `mapBlockSource`, `BlockChecked`.
 */
import type { ChainEventMap } from '../../chain/chainEvents.js';
import { REJECT_CODE, type ValidationError } from '../../consensus/reject.js';
import type { CompactPeers } from '../compact/compactPeers.js';
import { MAX_REJECT_REASON_LENGTH } from '../messages/reject.js';
import type { Peer } from '../messageHandler.js';
import type { BlocksInFlight } from './blocksInFlight.js';
import type { SyncDeps } from './syncDeps.js';

/** Blocks that wait for an ancestor, or never are connected: the first ones are forgotten. */
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
  /** Sources by header id. */
  private readonly sources = new Map<number, Source>();
  readonly stop: () => void;

  constructor(deps: BlockSourcesDeps) {
    this.deps = deps;
    this.stop = deps.chain.events.on('blockChecked', (event) => this.onChecked(event));
  }

  /** The block's data is from this peer, which is not punished for what it relayed in good faith (BIP152). */
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
    // No other block under way: this one is the best we know of, though it is not the tip yet.
    else if (!chain.isInitialDownload() && inFlight.size === (inFlight.has(id) ? 1 : 0))
      compact.noteUseful(source.peer);
  }
}

/** Sends a peer the reason for refusing its block, and punishes it. Verdicts that have no code of BIP61 cost nothing. */
export function refuseBlock(peer: Peer, hash: Buffer, error: ValidationError, mayPunish: boolean): void {
  const { rejectCode, reason, dosScore } = error;
  if (peer.isGone || rejectCode === REJECT_CODE.NONE || rejectCode >= REJECT_CODE.HIGH_FEE) return;
  peer.reject('block', rejectCode, reason.slice(0, MAX_REJECT_REASON_LENGTH), hash);
  if (mayPunish && dosScore > 0) peer.punish(dosScore, reason);
}
