/**
 * The events of the chain, as one typed list in a documented order. For each block, in order of (dis)connection:
 * `blockConnected` or `blockDisconnected`, after its commit; then, once the best tip is reached, `tipChanged`. `headerTip`:
 * a better header is known. `blockFound`: a block that follows the tip was stored and is not connected yet; not during the
 * initial download. `blockChecked`: the verdict of connecting a block, before its `blockConnected`. `progress`: the progress
 * of long work, null at its end; `backgroundProgress`: the same for work that does not block the chain. `writing`: a write
 * of this many bytes to disk begins; null when it ends. Listeners run synchronously, in the order of registration, and must
 * not throw.
 */
import type { ValidationError } from '../consensus/reject.js';
import type { Bytes } from '../util/bytes.js';
import type { ParsedBlock } from '../primitives/blockView.js';
import type { ClaimEvent } from '../store/claims/claimStore.js';

/** Progress of a long task on the chain. */
export interface Progress {
  /** Name of the task, capitalized, for example `Importing bootstrap.dat`. */
  readonly activity: string;
  /** Finished part of `total`. The unit is roughly proportional to the work: bytes of files, or transactions. */
  readonly done: number;
  readonly total: number;
  /** Height and time of the tip, or of the last processed block; -1 and 0 if not even the genesis block was processed. */
  readonly height: number;
  readonly timeSec: number;
  /** Number of transactions in the chain up to the block at `height`; 0 if only headers are processed. */
  readonly txCount: number;
}

export interface ConnectedBlock {
  id: number;
  height: number;
  /** Wire order. */
  hash: Bytes;
  raw: Buffer;
  parsed: ParsedBlock;
  /**
   * The block's effects on claims, in order; computed at each read. For a connected block it may be read only if
   * `Chain.describesConnected` is set. For a disconnected block the list is the same as when it was connected, and empty unless
   * `Chain.describesDisconnected` is set.
   */
  readonly claimEvents: readonly ClaimEvent[];
}

export interface ChainEventMap {
  blockConnected: ConnectedBlock;
  blockDisconnected: ConnectedBlock;
  tipChanged: { id: number; height: number; hash: Bytes; forkId: number; initialDownload: boolean };
  headerTip: { id: number };
  blockFound: { id: number; height: number; hash: Bytes; raw: Buffer; parsed: ParsedBlock };
  blockChecked: { id: number; hash: Bytes; error: ValidationError | null };
  progress: Progress | null;
  backgroundProgress: Progress | null;
  writing: { bytes: number } | null;
}

type Listener<K extends keyof ChainEventMap> = (event: ChainEventMap[K]) => void;

export class ChainEvents {
  private readonly listeners = new Map<keyof ChainEventMap, Set<Listener<never>>>();

  /** Registers a listener; the returned function removes it. */
  on<K extends keyof ChainEventMap>(name: K, listener: Listener<K>): () => void {
    let set = this.listeners.get(name);
    if (!set) this.listeners.set(name, (set = new Set()));
    set.add(listener as Listener<never>);
    return () => void set.delete(listener as Listener<never>);
  }

  emit<K extends keyof ChainEventMap>(name: K, event: ChainEventMap[K]): void {
    for (const listener of this.listeners.get(name) ?? []) (listener as Listener<K>)(event);
  }
}
