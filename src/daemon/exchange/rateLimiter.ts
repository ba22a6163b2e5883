/** A limit on bytes a second that several transfers share. */
import { sleep, type Clock } from '../base/clock.js';

/** Burst after a pause, in milliseconds of the rate. Arbitrary. */
const BURST_MS = 250;

export class RateLimiter {
  readonly #clock: Clock;
  readonly #bytesPerSecond: () => number;
  /** When all that was let through has its time. */
  #busyUntilMs = -Infinity;

  /** `bytesPerSecond` is read at each use; 0 means unlimited. */
  constructor(clock: Clock, bytesPerSecond: () => number) {
    this.#clock = clock;
    this.#bytesPerSecond = bytesPerSecond;
  }

  get isLimited(): boolean {
    return this.#bytesPerSecond() > 0;
  }

  /** Counts bytes and answers how long to wait before the next ones, in milliseconds. */
  delayMs(bytes: number): number {
    const rate = this.#bytesPerSecond();
    if (rate <= 0) return 0;
    const now = this.#clock.nowMs();
    this.#busyUntilMs = Math.max(this.#busyUntilMs, now - BURST_MS) + (bytes * 1000) / rate;
    return Math.max(0, this.#busyUntilMs - now);
  }

  /** Resolves when the bytes may pass; callers pass in the order of their calls. False when the signal aborted. */
  async take(bytes: number, signal: AbortSignal): Promise<boolean> {
    const delay = this.delayMs(bytes);
    return delay === 0 ? !signal.aborted : sleep(this.#clock, delay, signal);
  }
}
