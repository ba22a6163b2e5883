/** Rate limit in bytes per second, shared by several transfers. */
import { sleep, type Clock } from '../base/clock.js';

/** Maximum burst after a pause, as milliseconds at the full rate. Arbitrary. */
const BURST_MS = 250;

export class RateLimiter {
  readonly #clock: Clock;
  readonly #bytesPerSecond: () => number;
  /** Time at which the bytes admitted so far have passed at the allowed rate. */
  #busyUntilMs = -Infinity;

  /** `bytesPerSecond` is read at each use; 0 means unlimited. */
  constructor(clock: Clock, bytesPerSecond: () => number) {
    this.#clock = clock;
    this.#bytesPerSecond = bytesPerSecond;
  }

  get isLimited(): boolean {
    return this.#bytesPerSecond() > 0;
  }

  /** Counts bytes and returns the delay before the next ones, in milliseconds. */
  delayMs(bytes: number): number {
    const rate = this.#bytesPerSecond();
    if (rate <= 0) return 0;
    const now = this.#clock.nowMs();
    this.#busyUntilMs = Math.max(this.#busyUntilMs, now - BURST_MS) + (bytes * 1000) / rate;
    return Math.max(0, this.#busyUntilMs - now);
  }

  /** Resolves to true when the bytes may pass, in the order of the calls, or to false when the signal aborted. */
  async take(bytes: number, signal: AbortSignal): Promise<boolean> {
    const delay = this.delayMs(bytes);
    return delay === 0 ? !signal.aborted : sleep(this.#clock, delay, signal);
  }
}
