/**
 * Blocks that were asked for and have not come: with peer, time and order. A block is asked of one peer at
 * a time. Owns no choice of peers. Source: Core net_processing.cpp `mapBlocksInFlight`,
 * `MarkBlockAsInFlight`, `MarkBlockAsReceived`.
 */
import type { Peer } from '../messageHandler.js';

export interface BlockInFlight<Partial> {
  /** Header id. */
  readonly id: number;
  readonly peer: Peer;
  /** Data of the block from its compact announcement. */
  partial: Partial | null;
}

interface Downloads<Partial> {
  /** Blocks in order of request. */
  readonly blocks: Map<number, BlockInFlight<Partial>>;
  /** Time since which the first of them is the next expected block. */
  sinceMs: number;
  /** Start of the time in which others wait for this peer; 0 if none waits. */
  stallingSinceMs: number;
  /** How many times over it may not be blamed, because we keep its messages waiting. */
  holds: number;
}

export class BlocksInFlight<Partial = unknown> {
  private readonly nowMs: () => number;
  private readonly byId = new Map<number, BlockInFlight<Partial>>();
  private readonly byPeer = new Map<number, Downloads<Partial>>();

  constructor(deps: { nowMs: () => number }) {
    this.nowMs = deps.nowMs;
  }

  get size(): number {
    return this.byId.size;
  }

  get(id: number): BlockInFlight<Partial> | undefined {
    return this.byId.get(id);
  }

  has(id: number): boolean {
    return this.byId.has(id);
  }

  countFrom(peer: Peer): number {
    return this.byPeer.get(peer.id)?.blocks.size ?? 0;
  }

  /** The blocks asked of a peer, by header id, the first asked for first. */
  idsFrom(peer: Peer): number[] {
    return [...(this.byPeer.get(peer.id)?.blocks.keys() ?? [])];
  }

  /** Peers from which blocks are under way. */
  get peerCount(): number {
    let count = 0;
    for (const { blocks } of this.byPeer.values()) if (blocks.size > 0) count++;
    return count;
  }

  private downloads(peer: Peer): Downloads<Partial> {
    let downloads = this.byPeer.get(peer.id);
    if (!downloads) {
      downloads = { blocks: new Map(), sinceMs: 0, stallingSinceMs: 0, holds: 0 };
      this.byPeer.set(peer.id, downloads);
    }
    return downloads;
  }

  /** Notes that the block is asked of the peer, and of no other caller any more; what is noted already stays. */
  request(peer: Peer, id: number): BlockInFlight<Partial> {
    const known = this.byId.get(id);
    if (known?.peer.id === peer.id) return known;
    if (known) this.receive(id);
    const entry: BlockInFlight<Partial> = { id, peer, partial: null };
    const downloads = this.downloads(peer);
    downloads.blocks.set(id, entry);
    if (downloads.blocks.size === 1) downloads.sinceMs = this.nowMs();
    this.byId.set(id, entry);
    return entry;
  }

  /** The block came, or is not expected any more. Answers whether it had been asked for. */
  receive(id: number): boolean {
    const entry = this.byId.get(id);
    if (!entry) return false;
    this.byId.delete(id);
    const downloads = this.byPeer.get(entry.peer.id)!;
    const [first] = downloads.blocks.keys();
    if (first === id) downloads.sinceMs = Math.max(downloads.sinceMs, this.nowMs());
    downloads.blocks.delete(id);
    downloads.stallingSinceMs = 0;
    return true;
  }

  /** Forgets a peer: its blocks may be asked of others. */
  dropPeer(peer: Peer): void {
    for (const id of this.idsFrom(peer)) this.byId.delete(id);
    this.byPeer.delete(peer.id);
  }

  /** Others wait for this peer. */
  markStalling(peer: Peer): void {
    const downloads = this.byPeer.get(peer.id);
    if (downloads && downloads.stallingSinceMs === 0) downloads.stallingSinceMs = this.nowMs();
  }

  /** How long others have waited for this peer, in milliseconds; 0 when no one does. */
  stallingMs(peer: Peer): number {
    const downloads = this.byPeer.get(peer.id);
    if (!downloads || downloads.holds > 0 || downloads.stallingSinceMs === 0) return 0;
    return this.nowMs() - downloads.stallingSinceMs;
  }

  /** How long the next block has been awaited from this peer, in milliseconds; 0 when none is. */
  waitingMs(peer: Peer): number {
    const downloads = this.byPeer.get(peer.id);
    if (!downloads || downloads.holds > 0 || downloads.blocks.size === 0) return 0;
    return this.nowMs() - downloads.sinceMs;
  }

  /** Time in which no peer was heard counts against none. */
  excuse(ms: number): void {
    const nowMs = this.nowMs();
    for (const downloads of this.byPeer.values()) {
      downloads.sinceMs = Math.min(downloads.sinceMs + ms, nowMs);
      if (downloads.stallingSinceMs !== 0)
        downloads.stallingSinceMs = Math.min(downloads.stallingSinceMs + ms, nowMs);
    }
  }

  /** The peer's messages are kept waiting while the task runs: its time limits start over behind it. */
  async holding(peer: Peer, task: () => Promise<void>): Promise<void> {
    const downloads = this.downloads(peer);
    downloads.holds++;
    try {
      await task();
    } finally {
      downloads.holds--;
      downloads.sinceMs = this.nowMs();
      downloads.stallingSinceMs = 0;
    }
  }
}
