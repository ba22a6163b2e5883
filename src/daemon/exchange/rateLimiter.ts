/** Rate limit in bytes per second, shared by several transfers. */
import { sleep, type Clock } from '../base/clock.js';

/** Number of milliseconds at the full rate that may be sent in a burst after a pause. Arbitrary. */
const BURST_MS = 250;

export class RateLimiter {
  readonly #clock: Clock;
  readonly #bytesPerSecond: () => number;
  /** Time (monotonic, in ms) until which the bytes admitted so far take at the allowed rate. */
  #busyUntilMs = -Infinity;

  /** Creates a limiter. `bytesPerSecond` is called for each transfer; 0 means unlimited. */
  constructor(clock: Clock, bytesPerSecond: () => number) {
    this.#clock = clock;
    this.#bytesPerSecond = bytesPerSecond;
  }

  get isLimited(): boolean {
    return this.#bytesPerSecond() > 0;
  }

  /** Counts bytes and returns the delay in ms that the caller must wait before it sends more. */
  delayMs(bytes: number): number {
    const rate = this.#bytesPerSecond();
    if (rate <= 0) return 0;
    const now = this.#clock.nowMs();
    this.#busyUntilMs = Math.max(this.#busyUntilMs, now - BURST_MS) + (bytes * 1000) / rate;
    return Math.max(0, this.#busyUntilMs - now);
  }

  /** Waits until the bytes may be sent. Calls are served in their order. Resolves to true, or to false if the signal aborted. */
  async take(bytes: number, signal: AbortSignal): Promise<boolean> {
    const delay = this.delayMs(bytes);
    return delay === 0 ? !signal.aborted : sleep(this.#clock, delay, signal);
  }
}
