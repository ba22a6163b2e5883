/**
 * The calls with cached results (`answerCache.ts`) that took long and were made lately. After a block they are made again in
 * the background, so that a caller who asks after each block finds the result in the cache. It changes the speed of results
 * only. Limited in number and in time.
 */
import type { JsonObject, JsonValue } from '../../util/json/json.js';
import type { Profile, RpcMethod } from '../declare/method.js';

/** Maximum number of calls. Arbitrary. */
const MOST_CALLS = 64;
/** Faster calls are not made again: a caller does not notice them. Arbitrary. */
const LEAST_MS = 0.1;
/** Maximum time of the calls after a block, as they took before. Arbitrary. */
const MOST_MS = 100;
/** A call that was not made during so many blocks is forgotten. Arbitrary. */
const RECENT_BLOCKS = 2;

export interface RecentCall {
  readonly method: RpcMethod;
  readonly profile: Profile;
  readonly params: readonly JsonValue[] | JsonObject;
}

interface Entry {
  readonly call: RecentCall;
  tookMs: number;
  /** Number of the block after which it was made. */
  round: number;
}

export class RecentCalls {
  /** By cache key, in order of the latest call. */
  private readonly calls = new Map<string, Entry>();
  private round = 0;

  get size(): number {
    return this.calls.size;
  }

  /** Notes a call whose result was not cached. */
  note(key: string, call: RecentCall, tookMs: number): void {
    this.calls.delete(key);
    if (tookMs < LEAST_MS) return;
    this.calls.set(key, { call, tookMs, round: this.round });
    for (const [oldest] of this.calls) {
      if (this.calls.size <= MOST_CALLS) break;
      this.calls.delete(oldest);
    }
  }

  /** Notes a call whose result was cached. */
  touch(key: string): void {
    const entry = this.calls.size === 0 ? undefined : this.calls.get(key);
    if (entry !== undefined) entry.round = this.round;
  }

  forget(key: string): void {
    this.calls.delete(key);
  }

  /** Begins the next block. Returns the calls to be made again, the latest noted first. */
  nextBlock(): [key: string, call: RecentCall][] {
    this.round++;
    const found: [string, RecentCall][] = [];
    let leftMs = MOST_MS;
    for (const [key, { call, tookMs, round }] of [...this.calls].reverse()) {
      if (this.round - round > RECENT_BLOCKS) this.calls.delete(key);
      else if ((leftMs -= tookMs) >= 0) found.push([key, call]);
    }
    return found;
  }
}
