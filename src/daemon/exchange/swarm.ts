/**
 * Download of one stream. It tracks the wanted blobs and the known holders, and assigns requests to holders. Several blobs
 * are downloaded from several holders at the same time. If a holder does not respond, other holders are asked for the blob
 * that it should send. Source: lbry-sdk lbry/blob_exchange/downloader.py `BlobDownloader`.
 */
import type { Clock, Timer } from '../base/clock.js';
import type { ReceivedBlob } from '../content/incomingBlob.js';
import type { Holder, Line, LineOutcome } from './blobHolders.js';
import { holdersNeeded, isStuck, Known, type Wanted } from './knownHolder.js';
import type { BlobKeeper, DownloadProgress, Urgency } from './ports.js';

/**
 * Factor by which the limit of concurrent requests is multiplied until a holder has sent data. Source:
 * `should_race_continue`.
 */
const COLD_FACTOR = 10;
/** Maximum pause in seconds before a failing holder is asked again. Source: `clearbanned`. */
const MAX_REST_SEC = 30;
const REST_EXPONENT = 2;
/** Milliseconds for which a holder that sent wrong data is not asked; longer than most downloads take. Arbitrary. */
const LIAR_REST_MS = 3_600_000;
/** Milliseconds for which a connection that is being opened counts as progress. Arbitrary. */
const CONNECTING_MS = 500;
/** Milliseconds between the checks that run while blobs are requested. */
const TICK_MS = 100;
/**
 * Maximum number of known holders from one source. Only false announcements exceed it, and they must not keep out the holders
 * of other sources. Arbitrary.
 */
const MAX_OF_SOURCE = 400;
/** Time window in ms over which the displayed rate is computed. */
const RATE_MS = 5000;

export interface SwarmDeps {
  readonly blobs: BlobKeeper;
  readonly clock: Clock;
  /**
   * Returns the maximum number of holders that are used at the same time (`max_connections_per_download`). Called at each
   * use.
   */
  readonly limit: () => number;
  /** Returns a random number from 0 to 1. It decides the order in which holders of equal rank are asked. */
  readonly random: () => number;
  readonly debug: (text: () => string) => void;
}

export interface SwarmFetch {
  readonly urgency: Urgency;
  readonly signal: AbortSignal;
  /** See `FetchOptions.into`. */
  readonly into?: Uint8Array | null | undefined;
}

/** Copies bytes to the start of a buffer and returns the used part of it. Null selects an empty result. */
export function putInto(into: Uint8Array | null, bytes: Uint8Array): Uint8Array {
  into?.set(bytes);
  return into?.subarray(0, bytes.length) ?? new Uint8Array(0);
}

export class Swarm {
  readonly #deps: SwarmDeps;
  readonly #known = new Map<string, Known>();
  readonly #wanted = new Map<string, Wanted>();
  readonly #closed = new AbortController();
  readonly #arrivals: { readonly atMs: number; readonly bytes: number }[] = [];
  #orders = 0;
  #tick: Timer | null = null;
  /** Time at which the set of requested blobs changed last. */
  lastUseMs: number;

  constructor(deps: SwarmDeps) {
    this.#deps = deps;
    this.lastUseMs = deps.clock.nowMs();
  }

  get isIdle(): boolean {
    return this.#wanted.size === 0;
  }

  /** Whether a known holder may have the wanted blobs. If so, the search for more holders can wait. */
  get hasHope(): boolean {
    const now = this.#deps.clock.nowMs();
    const wanted = [...this.#wanted.keys()];
    for (const one of this.#known.values()) {
      if (one.restsUntilMs > now) continue;
      if (one.state === 'busy' ? !isStuck(one, now) : wanted.some((hash) => one.mayHave(hash, now)))
        return true;
    }
    return false;
  }

  progress(): DownloadProgress {
    const now = this.#deps.clock.nowMs();
    const recent = this.#arrivals.filter(({ atMs }) => now - atMs < RATE_MS);
    let bytes = recent.reduce((sum, one) => sum + one.bytes, 0);
    let peers = 0;
    for (const { line, state } of this.#known.values()) {
      if (line?.isOpen) peers++;
      if (state === 'busy') bytes += line!.receivedBytes;
    }
    return {
      peers,
      knownPeers: this.#known.size,
      bytesPerSecond: Math.round((bytes * 1000) / RATE_MS),
    };
  }

  /**
   * Adds a holder that a source named. A known holder stays unchanged. If the source has named too many, a failed one of them
   * is removed, and without a failed one the holder is ignored.
   */
  add(holder: Holder, source = 'settings'): void {
    if (this.#known.has(holder.name) || this.#closed.signal.aborted) return;
    const ofSource = [...this.#known.values()].filter((one) => one.source === source);
    if (ofSource.length >= MAX_OF_SOURCE) {
      const failed = ofSource.find(({ state, failures }) => state === 'new' && failures > 0);
      if (failed === undefined) return;
      this.#known.delete(failed.holder.name);
    }
    // Holders that are added at the same time are tried in random order, so that not all clients start with the same
    // holder.
    this.#known.set(holder.name, new Known(holder, this.#known.size + this.#deps.random(), source));
    this.#pump();
  }

  /** Whether the blob is being fetched. */
  wants(hash: string): boolean {
    return this.#wanted.has(hash);
  }

  /** See `BlobFetcher.fetchBlob`. */
  async fetch(
    hash: string,
    lengthBytes: number | null,
    { urgency, signal, into }: SwarmFetch,
  ): Promise<Uint8Array> {
    signal.throwIfAborted();
    this.#closed.signal.throwIfAborted();
    const wanted = this.#wanted.get(hash) ?? this.#want(hash, lengthBytes, urgency);
    if (urgency === 'reader') wanted.urgency = urgency;
    wanted.waiters++;
    this.#pump();
    try {
      const blob = await unlessAborted(wanted.done, signal);
      if (into === undefined) return blob.keep();
      const bytes = putInto(into, blob.bytes);
      blob.release();
      return bytes;
    } finally {
      if (--wanted.waiters === 0) this.#drop(wanted);
    }
  }

  #want(hash: string, lengthBytes: number | null, urgency: Urgency): Wanted {
    let resolve!: Wanted['resolve'];
    let reject!: Wanted['reject'];
    const done = new Promise<ReceivedBlob>((onDone, onFailure) => {
      resolve = onDone;
      reject = onFailure;
    });
    done.catch(() => undefined);
    const order = this.#orders++;
    const wanted = {
      hash,
      lengthBytes,
      order,
      urgency,
      waiters: 0,
      troubles: 0,
      stuck: 0,
      asked: new Set<Known>(),
      early: null,
      done,
      resolve,
      reject,
    };
    this.#wanted.set(hash, wanted);
    return wanted;
  }

  /** Ends the work on a blob, because it was received or because its last caller has left. */
  #drop(wanted: Wanted): void {
    if (this.#wanted.get(wanted.hash) === wanted) this.#wanted.delete(wanted.hash);
    for (const one of wanted.asked) this.#release(one);
    wanted.asked.clear();
    this.lastUseMs = this.#deps.clock.nowMs();
    this.#pump();
  }

  /**
   * Cancels the request to a holder. The connection is closed, because the remaining bytes of the blob would come before any
   * other response. This does not count as a failure of the holder.
   */
  #release(one: Known): void {
    this.#takeNext(one);
    one.line?.close();
    one.line = null;
    one.state = 'new';
  }

  close(): void {
    const reason = new Error('the daemon is stopping');
    this.#closed.abort(reason);
    this.#tick?.cancel();
    for (const wanted of this.#wanted.values()) wanted.reject(reason);
    for (const { line } of this.#known.values()) line?.close();
  }

  /** Assigns each wanted blob to a holder that can send it. */
  #pump(): void {
    if (this.#closed.signal.aborted) return;
    if (this.#wanted.size === 0) {
      this.#tick?.cancel();
      this.#tick = null;
      return;
    }
    const now = this.#deps.clock.nowMs();
    const unmet = this.#assign(now);
    if (unmet > 0) this.#openMore(now, unmet);
    else this.#closeSurplus();
    this.#tick ??= this.#deps.clock.after(TICK_MS, () => {
      this.#tick = null;
      this.#pump();
    });
  }

  /** The wanted blobs, the most urgent first. */
  #queue(): Wanted[] {
    return [...this.#wanted.values()].sort(
      (a, b) => Number(b.urgency === 'reader') - Number(a.urgency === 'reader') || a.order - b.order,
    );
  }

  /** Requests wanted blobs from idle holders. Returns the number of additional holders that could be used. */
  #assign(now: number): number {
    const idle = [...this.#known.values()]
      .filter(({ state }) => state === 'idle')
      .sort((a, b) => b.score - a.score || a.order - b.order);
    const queue = this.#queue();
    const limit = this.#limitNow;
    let unmet = 0;
    for (const wanted of queue) {
      if (wanted.early !== null && !isStuck(wanted.early, now)) continue;
      let needed = holdersNeeded(wanted, now);
      for (const one of idle) {
        if (needed === 0) break;
        if (one.state !== 'idle' || !one.mayHave(wanted.hash, now)) continue;
        if (this.#movingCount(now) >= limit) return unmet + needed;
        needed--;
        void this.#ask(one, wanted, queue);
      }
      unmet += needed;
    }
    return unmet;
  }

  /** Whether at least one holder has sent a blob, or is sending a blob for which no holder has failed. */
  get #isProven(): boolean {
    for (const { line, score, state, wanted } of this.#known.values()) {
      if (line?.isOpen !== true) continue;
      if (score > 0) return true;
      if (state === 'busy' && line.receivedBytes > 0 && wanted!.troubles + wanted!.stuck === 0) return true;
    }
    return false;
  }

  get #limitNow(): number {
    const limit = Math.max(1, this.#deps.limit());
    return this.#isProven ? limit : limit * COLD_FACTOR;
  }

  /** Number of holders that are sending. Silent holders do not count, so that they do not prevent the use of others. */
  #movingCount(now: number): number {
    let count = 0;
    for (const one of this.#known.values()) {
      if (one.state === 'opening' && now - one.sinceMs <= CONNECTING_MS) count++;
      if (one.state === 'busy' && !isStuck(one, now)) count++;
    }
    return count;
  }

  #openMore(now: number, unmet: number): void {
    const wanted = [...this.#wanted.keys()];
    const candidates = [...this.#known.values()]
      .filter(
        (one) =>
          one.state === 'new' && one.restsUntilMs <= now && wanted.some((hash) => one.mayHave(hash, now)),
      )
      .sort((a, b) => b.score - a.score || a.failures - b.failures || a.order - b.order);
    const room = this.#limitNow - this.#movingCount(now);
    const count = this.#isProven ? Math.min(room, unmet) : room;
    for (const one of candidates.slice(0, Math.max(0, count))) void this.#open(one, now);
  }

  /** Closes connections that are not needed any more, when a holder is sending blobs. */
  #closeSurplus(): void {
    if (!this.#isProven) return;
    const idle = [...this.#known.values()]
      .filter(({ state }) => state === 'idle')
      .sort((a, b) => b.score - a.score);
    for (const one of idle.slice(this.#limitNow)) this.#release(one);
  }

  async #open(one: Known, now: number): Promise<void> {
    one.state = 'opening';
    one.sinceMs = now;
    let line: Line;
    try {
      line = await one.holder.open(() => this.#onLineClosed(one), this.#closed.signal);
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      this.#fail(one, (error as Error).message);
      return;
    }
    if (this.#closed.signal.aborted) {
      line.close();
      return;
    }
    one.line = line;
    one.state = 'idle';
    this.#pump();
  }

  /** Servers close idle connections. This close does not count as a failure. */
  #onLineClosed(one: Known): void {
    if (one.state !== 'idle') return;
    one.line = null;
    one.state = 'new';
    this.#pump();
  }

  async #ask(one: Known, wanted: Wanted, queue: readonly Wanted[]): Promise<void> {
    const { clock } = this.#deps;
    const line = one.line!;
    one.state = 'busy';
    one.wanted = wanted;
    one.sinceMs = clock.nowMs();
    wanted.asked.add(one);
    const others = laterThan(wanted, queue);
    const outcome = await line.request(wanted.hash, wanted.lengthBytes, others, {
      onComing: () => this.#leaveTo(one, wanted),
      onEnding: () => this.#requestEarly(one, wanted),
      onAvailability: (asked, available) => {
        for (const hash of asked)
          if (available.includes(hash)) one.lacks.delete(hash);
          else one.noteLacks(hash, clock.nowMs());
      },
    });
    // The request was cancelled while it was running, so its outcome is ignored.
    if (!wanted.asked.delete(one) || this.#closed.signal.aborted) return;
    if (outcome.kind !== 'blob') wanted.troubles++;
    await this.#settle(one, wanted, outcome);
  }

  /** Requests the next blob that no holder was asked for, while the holder sends the rest of a blob. */
  #requestEarly(one: Known, wanted: Wanted): void {
    if (one.next !== null || !wanted.asked.has(one) || this.#closed.signal.aborted) return;
    const now = this.#deps.clock.nowMs();
    const queue = this.#queue();
    const next = queue.find((other) => isUnrequested(other) && one.mayHave(other.hash, now));
    if (next === undefined) return;
    next.early = one;
    one.next = next;
    one.line!.requestEarly?.(next.hash, laterThan(next, queue));
  }

  /** Returns the blob that was requested early from the holder, and clears the record of it; null if there is none. */
  #takeNext(one: Known): Wanted | null {
    const { next } = one;
    one.next = null;
    if (next?.early === one) next.early = null;
    return next;
  }

  /** Waits for the blob that was requested early. If it is not wanted any more, the connection is closed. */
  #continue(one: Known): void {
    const next = this.#takeNext(one);
    if (next === null || one.state !== 'idle') return;
    const wanted = this.#wanted.get(next.hash);
    if (wanted === undefined) this.#release(one);
    else void this.#ask(one, wanted, this.#queue());
  }

  /** When the first holder sends data for a blob, the requests to holders that sent nothing are ended. */
  #leaveTo(one: Known, wanted: Wanted): void {
    // After a failed or stalled transfer of this blob, a transfer that has just begun is not reliable enough to cancel the
    // others.
    if (wanted.troubles + wanted.stuck > 0) return;
    for (const other of wanted.asked) {
      if (other === one || other.line?.receivedBytes !== 0) continue;
      wanted.asked.delete(other);
      this.#release(other);
    }
  }

  async #settle(one: Known, wanted: Wanted, outcome: LineOutcome): Promise<void> {
    const now = this.#deps.clock.nowMs();
    if (outcome.kind === 'failed') return this.#fail(one, outcome.reason);
    one.state = one.line?.isOpen ? 'idle' : 'new';
    if (one.state === 'new') one.line = null;
    if (outcome.kind === 'lacks') {
      one.noteLacks(wanted.hash, now);
      this.#pump();
      return;
    }
    const { length } = outcome.blob.bytes;
    one.score = (length * 1000) / Math.max(1, now - one.sinceMs);
    this.#noteArrival(now, length);
    this.#continue(one);
    await this.#verify(one, wanted, outcome.blob);
  }

  async #verify(one: Known, wanted: Wanted, blob: ReceivedBlob): Promise<void> {
    // While the blob is being stored, no other holder is asked for it, and this holder may send the next blob.
    const checking = new Known(one.holder, 0);
    checking.sinceMs = Infinity;
    wanted.asked.add(checking);
    this.#pump();
    let isRight: boolean;
    try {
      isRight = await this.#deps.blobs.receive(wanted.hash, blob);
    } catch (error) {
      wanted.reject(error);
      return;
    }
    wanted.asked.delete(checking);
    if (!isRight) {
      wanted.troubles++;
      if (one.state === 'busy') this.#takeOff(one);
      this.#fail(one, 'the blob has another hash', LIAR_REST_MS);
      return;
    }
    one.failures = 0;
    // A waiter that leaves before it gets the blob does not release it; the buffer is then garbage collected.
    for (let waiter = 0; waiter < wanted.waiters; waiter++) blob.use();
    wanted.resolve(blob);
    blob.release();
    this.#drop(wanted);
  }

  #takeOff(one: Known): void {
    for (const { asked } of this.#wanted.values()) asked.delete(one);
  }

  #fail(one: Known, reason: string, restMs?: number): void {
    this.#deps.debug(() => `${one.holder.name}: ${reason}`);
    this.#release(one);
    one.failures++;
    one.score = 0;
    const rest = restMs ?? Math.min(MAX_REST_SEC, one.failures ** REST_EXPONENT) * 1000;
    one.restsUntilMs = this.#deps.clock.nowMs() + rest;
    this.#pump();
  }

  #noteArrival(atMs: number, bytes: number): void {
    this.#arrivals.push({ atMs, bytes });
    while (this.#arrivals.length > 0 && atMs - this.#arrivals[0]!.atMs >= RATE_MS) this.#arrivals.shift();
  }
}

/** Whether the blob was not requested from any holder yet. */
const isUnrequested = ({ asked, early }: Wanted): boolean => asked.size === 0 && early === null;

/** Hashes of the blobs that are requested after `wanted`, the most urgent first. The holder can prepare for them. */
const laterThan = (wanted: Wanted, queue: readonly Wanted[]): string[] =>
  queue.filter((other) => other !== wanted && isUnrequested(other)).map(({ hash }) => hash);

/** Settles as the promise does, or rejects when the signal aborts first. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
