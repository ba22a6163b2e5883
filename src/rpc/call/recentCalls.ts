/**
 * Recent calls with cached results (`answerCache.ts`) that took long. After a block these calls are repeated in the
 * background, so that a caller who repeats the call after each block finds the result in the cache. Results do not change by
 * this, only their speed. The number of calls and the total time are limited.
 */
import type { JsonObject, JsonValue } from '../../util/json/json.js';
import type { Profile, RpcMethod } from '../declare/method.js';

/** Maximum number of calls that are repeated after a block. Arbitrary. */
const MOST_CALLS = 64;
/** Minimum duration in ms of a call that is repeated. For faster calls a caller would not notice the difference. Arbitrary. */
const LEAST_MS = 0.1;
/** Maximum total duration in ms of the repeated calls after a block, computed from their previous durations. Arbitrary. */
const MOST_MS = 100;
/** Share of `MOST_MS` in ms for the calls that no client made after the latest two blocks. Arbitrary. */
const MOST_OLDER_MS = 20;
const LATEST_BLOCKS = 2;
/**
 * Number of blocks after which a call that no client repeated is removed from the list. Arbitrary: about half an hour, as for
 * the data of names (`lookup/askedNames.ts`).
 */
const RECENT_BLOCKS = 16;

export interface RecentCall {
  readonly method: RpcMethod;
  readonly profile: Profile;
  readonly params: readonly JsonValue[] | JsonObject;
}

interface Entry {
  readonly call: RecentCall;
  tookMs: number;
  /** Number of the block after which the call was last made by a client. */
  round: number;
}

export class RecentCalls {
  /** Recent calls by cache key, sorted by the time of the last call. */
  private readonly calls = new Map<string, Entry>();
  private round = 0;

  get size(): number {
    return this.calls.size;
  }

  /**
   * Records a call whose result was not in the cache. `tookMs` is its duration. A call that took long once stays in the list
   * when it gets faster, because it takes long again when its data changes.
   */
  note(key: string, call: RecentCall, tookMs: number): void {
    const isKnown = this.calls.delete(key);
    if (tookMs < LEAST_MS && !isKnown) return;
    this.calls.set(key, { call, tookMs, round: this.round });
    for (const [oldest] of this.calls) {
      if (this.calls.size <= MOST_CALLS) break;
      this.calls.delete(oldest);
    }
  }

  /** Records a call whose result was in the cache. */
  touch(key: string): void {
    const entry = this.calls.size === 0 ? undefined : this.calls.get(key);
    if (entry !== undefined) entry.round = this.round;
  }

  /** Records the duration of a repetition, which is often shorter than that of the first call. */
  repeated(key: string, tookMs: number): void {
    const entry = this.calls.get(key);
    if (entry !== undefined) entry.tookMs = tookMs;
  }

  forget(key: string): void {
    this.calls.delete(key);
  }

  /** Starts the list for the next block. Returns the calls to be repeated, the most recent first. */
  nextBlock(): [key: string, call: RecentCall][] {
    this.round++;
    const found: [string, RecentCall][] = [];
    let [leftMs, leftOlderMs] = [MOST_MS, MOST_OLDER_MS];
    for (const [key, { call, tookMs, round }] of [...this.calls].reverse()) {
      const age = this.round - round;
      if (age > RECENT_BLOCKS) this.calls.delete(key);
      else if (tookMs <= leftMs && (age <= LATEST_BLOCKS || tookMs <= leftOlderMs)) {
        leftMs -= tookMs;
        if (age > LATEST_BLOCKS) leftOlderMs -= tookMs;
        found.push([key, call]);
      }
    }
    return found;
  }
}
