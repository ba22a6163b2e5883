/**
 * Requested blocks that were not received yet, with peer, time and order. A block is requested from only one peer at a time.
 * Does not select the peers. Source: Core net_processing.cpp `mapBlocksInFlight`, `MarkBlockAsInFlight`,
 * `MarkBlockAsReceived`.
 */
import type { Peer } from '../messageHandler.js';

export interface BlockInFlight<Partial> {
  /** Header id. */
  readonly id: number;
  readonly peer: Peer;
  /** Partly reconstructed compact block; null if the block is requested in full. */
  partial: Partial | null;
}

interface Downloads<Partial> {
  /** Requested blocks by header id, in order of request. */
  readonly blocks: Map<number, BlockInFlight<Partial>>;
  /** Time in ms since which the peer's first pending block is expected. */
  sinceMs: number;
  /** Time in ms since which other peers' blocks have waited for blocks of this peer; 0 if none wait. */
  stallingSinceMs: number;
  /** Number of running tasks of this node that delay the peer's messages, during which the peer's time limits are suspended. */
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

  /** The blocks requested from a peer, by header id, in order of request. */
  idsFrom(peer: Peer): number[] {
    return [...(this.byPeer.get(peer.id)?.blocks.keys() ?? [])];
  }

  /** Number of peers from which at least one block is requested. */
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

  /**
   * Records that the block is requested from this peer only. An existing record of the same peer is kept; a record of
   * another peer is replaced.
   */
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

  /**
   * Removes the record of a block that was received or is not expected any more. Returns whether the block had been
   * requested.
   */
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

  /** Removes a peer and the records of its requests, so that the blocks may be requested from other peers. */
  dropPeer(peer: Peer): void {
    for (const id of this.idsFrom(peer)) this.byId.delete(id);
    this.byPeer.delete(peer.id);
  }

  /** Records that other peers wait for this peer's blocks. */
  markStalling(peer: Peer): void {
    const downloads = this.byPeer.get(peer.id);
    if (downloads && downloads.stallingSinceMs === 0) downloads.stallingSinceMs = this.nowMs();
  }

  /** Time in ms for which other peers have waited for this peer; 0 if none waits. */
  stallingMs(peer: Peer): number {
    const downloads = this.byPeer.get(peer.id);
    if (!downloads || downloads.holds > 0 || downloads.stallingSinceMs === 0) return 0;
    return this.nowMs() - downloads.stallingSinceMs;
  }

  /** Time in ms for which the peer's first pending block has been expected; 0 if none is pending. */
  waitingMs(peer: Peer): number {
    const downloads = this.byPeer.get(peer.id);
    if (!downloads || downloads.holds > 0 || downloads.blocks.size === 0) return 0;
    return this.nowMs() - downloads.sinceMs;
  }

  /** Extends all time limits by `ms`, a period in which this node read no messages. */
  excuse(ms: number): void {
    const nowMs = this.nowMs();
    for (const downloads of this.byPeer.values()) {
      downloads.sinceMs = Math.min(downloads.sinceMs + ms, nowMs);
      if (downloads.stallingSinceMs !== 0)
        downloads.stallingSinceMs = Math.min(downloads.stallingSinceMs + ms, nowMs);
    }
  }

  /**
   * Runs a task that delays the handling of the peer's messages. The peer's time limits are suspended during the task and
   * start from zero after it.
   */
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
