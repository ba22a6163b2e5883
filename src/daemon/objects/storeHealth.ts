/**
 * Health of an object store: the last failure, the time of the next upload attempt, and log lines. The pause of uploads
 * grows with each failure and ends with a success.
 */
import type { Logger } from '../../util/logging.js';
import type { Clock } from '../base/clock.js';
import { ObjectStoreError } from './s3Bucket.js';

/**
 * Milliseconds before the next upload after the first failure, and maximum. The pause doubles after each further failure.
 * Arbitrary.
 */
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;
/** Number of consecutive failures after which the store counts as failing. A single failure may be accidental. */
const FAILURES = 3;
/** Milliseconds after which the log repeats that the store fails. Arbitrary. */
const REPEAT_MS = 600_000;

export interface StoreHealthDeps {
  /** `s3://bucket/prefix`. */
  readonly name: string;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Returns a random number from 0 to 1, which varies the pauses. */
  readonly random: () => number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Returns the number and total size of the blobs that wait for their upload, for messages. */
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

  /** Reason why requests to the store fail; null while the store works. */
  get reason(): string | null {
    return this.isDegraded ? this.#lastReason : null;
  }

  /** Remaining pause of uploads in milliseconds; 0 if no request has failed since the last success. */
  get pauseMs(): number {
    return this.#failures === 0 ? 0 : Math.max(0, this.#retryAtMs - this.#deps.clock.nowMs());
  }

  /** Warning for `status`; null while the store works. */
  get warning(): string | null {
    if (!this.isDegraded) return null;
    const { blobs, bytes } = this.#deps.waiting();
    return (
      `The blob store ${this.#deps.name} does not work: ${this.#lastReason}. ${blobs} blobs (${bytes} ` +
      'bytes) are waiting on this disk.'
    );
  }

  failed(error: unknown): void {
    const { clock, random, log } = this.#deps;
    this.#failures++;
    this.#lastReason = (error as Error).message;
    const doubledMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#failures - 1, 16));
    const wantedMs = error instanceof ObjectStoreError ? (error.retryAfterMs ?? 0) : 0;
    // The pause has a random part, so that the reflectors of one store do not all retry at the same time.
    this.#retryAtMs = clock.nowMs() + Math.max(wantedMs, doubledMs * (0.5 + random() / 2));
    const { warning } = this;
    const isDue = this.#loggedMs === null || clock.nowMs() - this.#loggedMs >= REPEAT_MS;
    if (warning === null || !isDue) return;
    this.#loggedMs = clock.nowMs();
    log.warn(`${warning} The upload is retried; no acknowledged blob is lost.`);
  }

  worked(): void {
    this.#failures = 0;
    if (this.#loggedMs === null) return;
    this.#loggedMs = null;
    this.#deps.log.info(`The blob store ${this.#deps.name} works again.`);
  }
}
