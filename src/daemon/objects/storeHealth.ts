/**
 * How an object store does: what failed last, when uploads are tried again, and the lines of the log about it. Uploads wait
 * longer after each failure; one success ends the wait.
 */
import type { Logger } from '../../util/logging.js';
import type { Clock } from '../base/clock.js';
import { ObjectStoreError } from './s3Bucket.js';

/** The wait after the first failure; it doubles with each further one. Arbitrary. */
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;
/** Failures one after the other until the store counts as failing: a single one may be chance. */
const FAILURES = 3;
/** How often the log repeats that the store fails. Arbitrary. */
const REPEAT_MS = 600_000;

export interface StoreHealthDeps {
  /** `s3://bucket/prefix`. */
  readonly name: string;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Random number from 0 to 1. */
  readonly random: () => number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Description of waiting uploads for the log. */
  readonly waiting: () => { readonly blobs: number; readonly bytes: number };
}

export class StoreHealth {
  readonly #deps: StoreHealthDeps;
  #failures = 0;
  #lastReason = '';
  #retryAtMs = 0;
  #loggedMs: number | null = null;

  constructor(deps: StoreHealthDeps) {
    this.#deps = deps;
  }

  get isDegraded(): boolean {
    return this.#failures >= FAILURES;
  }

  /** Reason why the store fails; null while it works. */
  get reason(): string | null {
    return this.isDegraded ? this.#lastReason : null;
  }

  /** How long uploads are to wait; 0 where none failed since the last success. */
  get pauseMs(): number {
    return this.#failures === 0 ? 0 : Math.max(0, this.#retryAtMs - this.#deps.clock.nowMs());
  }

  /** A line for `status`; null while the store works. */
  get warning(): string | null {
    if (!this.isDegraded) return null;
    const { blobs, bytes } = this.#deps.waiting();
    return `The blob store ${this.#deps.name} fails: ${this.#lastReason}. ${blobs} blobs (${bytes} bytes) wait on this disk.`;
  }

  failed(error: unknown): void {
    const { clock, random, log } = this.#deps;
    this.#failures++;
    this.#lastReason = (error as Error).message;
    const doubledMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#failures - 1, 16));
    const wantedMs = error instanceof ObjectStoreError ? (error.retryAfterMs ?? 0) : 0;
    // Reflectors that share a store do not come back all at once.
    this.#retryAtMs = clock.nowMs() + Math.max(wantedMs, doubledMs * (0.5 + random() / 2));
    const { warning } = this;
    const isDue = this.#loggedMs === null || clock.nowMs() - this.#loggedMs >= REPEAT_MS;
    if (warning === null || !isDue) return;
    this.#loggedMs = clock.nowMs();
    log.warn(`${warning} It is tried again; nothing that was acknowledged is lost.`);
  }

  worked(): void {
    this.#failures = 0;
    if (this.#loggedMs === null) return;
    this.#loggedMs = null;
    this.#deps.log.info(`The blob store ${this.#deps.name} works again.`);
  }
}
