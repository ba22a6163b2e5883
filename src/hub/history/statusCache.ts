/**
 * Cache of the hashes of confirmed histories by script: the digests, and for long histories the states of the hash function,
 * to which new entries can be added. `addressHistories.ts` continues the hash states with the entries of new blocks. A
 * digest that includes a disconnected block is not used.
 */
import { createHash, type Hash } from 'node:crypto';

/** Maximum number of digests. Each uses about 300 bytes. Arbitrary: bounds the memory. */
const MAX_DIGESTS = 200_000;
/** Maximum number of hash states. Each uses about 1,000 bytes. Arbitrary: bounds the memory. */
const MAX_STATES = 20_000;
/**
 * Minimum number of entries of a history whose hash state is cached. Reading a shorter history takes about as long as a
 * lookup.
 */
const LONG_HISTORY = 32;
/** Number of disconnected blocks whose heights are stored. A digest that is older than all of these is not used. */
const MAX_LOG = 1000;

/** Hash state of the confirmed part of a history. */
export interface Confirmed {
  readonly hash: Hash;
  count: number;
  /** Height of the last entry; -1 without entries. The hash covers all entries of this block. */
  lastHeight: number;
}

interface Kept {
  readonly count: number;
  readonly lastHeight: number;
  readonly digest: string;
  /** Total number of disconnected blocks when the digest was computed. */
  readonly disconnects: number;
}

export class StatusCache {
  private readonly digests = new Map<string, Kept>();
  private readonly states = new Map<Kept, Hash>();
  private readonly maxDigests: number;
  private readonly maxStates: number;
  /**
   * `log`: heights of the latest disconnected blocks. `forgotten`: number of earlier disconnected blocks, whose heights are
   * not stored.
   */
  private readonly log: number[] = [];
  private forgotten = 0;

  constructor(maxDigests = MAX_DIGESTS, maxStates = MAX_STATES) {
    this.maxDigests = maxDigests;
    this.maxStates = maxStates;
  }

  /** Number of blocks disconnected since the start. */
  get disconnects(): number {
    return this.forgotten + this.log.length;
  }

  noteDisconnected(height: number): void {
    this.log.push(height);
    if (this.log.length <= MAX_LOG) return;
    this.log.shift();
    this.forgotten++;
  }

  /**
   * Lowest height among the blocks that were disconnected since `disconnects` had the value `since`. Infinity if there are
   * none; -1 if their heights are not stored any more.
   */
  lowestDisconnected(since: number): number {
    if (since < this.forgotten) return -1;
    let lowest = Infinity;
    for (let n = since - this.forgotten; n < this.log.length; n++) lowest = Math.min(lowest, this.log[n]!);
    return lowest;
  }

  private find(key: string): Kept | null {
    const kept = this.digests.get(key);
    if (kept === undefined) return null;
    if (this.lowestDisconnected(kept.disconnects) <= kept.lastHeight) {
      this.drop(key, kept);
      return null;
    }
    this.digests.delete(key);
    this.digests.set(key, kept);
    return kept;
  }

  private drop(key: string, kept: Kept): void {
    this.digests.delete(key);
    this.states.delete(kept);
  }

  /**
   * Status of a script from the cache. `count` is its number of confirmed transactions, `waiting` the text of the
   * unconfirmed ones. Undefined if the cache is not sufficient, so that the history must be read.
   */
  status(key: string, count: number, waiting: string): string | undefined {
    const kept = this.find(key);
    if (kept?.count !== count) return undefined;
    if (waiting === '') return kept.digest;
    return this.states.get(kept)?.copy().update(waiting, 'latin1').digest('hex');
  }

  /**
   * Returns the cached hash state of a script, to which newer entries can be added. Returns the initial state if none is
   * cached.
   */
  resume(key: string): Confirmed {
    const kept = this.find(key);
    const state = kept && this.states.get(kept);
    if (!state) return { hash: createHash('sha256'), count: 0, lastHeight: -1 };
    return { hash: state.copy(), count: kept.count, lastHeight: kept.lastHeight };
  }

  /** Stores a hash state that is valid for the current chain. */
  keep(key: string, { hash, count, lastHeight }: Confirmed): void {
    const old = this.digests.get(key);
    if (old) this.drop(key, old);
    const { disconnects } = this;
    const kept = { count, lastHeight, digest: hash.copy().digest('hex'), disconnects };
    this.digests.set(key, kept);
    if (count >= LONG_HISTORY) this.states.set(kept, hash.copy());
    if (this.states.size > this.maxStates) this.states.delete(this.states.keys().next().value!);
    if (this.digests.size <= this.maxDigests) return;
    const [oldest, last] = this.digests.entries().next().value!;
    this.drop(oldest, last);
  }
}
