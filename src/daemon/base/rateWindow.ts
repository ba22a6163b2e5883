/** Measures a rate in bytes per second over the last seconds. */
import type { Clock } from './clock.js';

/** Length of the measured time window in milliseconds. Arbitrary: long enough to smooth the rate. */
const WINDOW_MS = 5000;

export class RateWindow {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #beganMs: number;
  readonly #parts: { readonly atMs: number; readonly bytes: number }[] = [];

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
    this.#beganMs = clock.nowMs();
  }

  add(bytes: number): void {
    const atMs = this.#clock.nowMs();
    this.#parts.push({ atMs, bytes });
    this.#forget(atMs);
  }

  #forget(nowMs: number): void {
    while (this.#parts.length > 0 && nowMs - this.#parts[0]!.atMs >= WINDOW_MS) this.#parts.shift();
  }

  /**
   * Rate in units per second. In the first five seconds, the rate covers the time since the start of the measurement, but at
   * least one second.
   */
  get perSecond(): number {
    const nowMs = this.#clock.nowMs();
    this.#forget(nowMs);
    const lengthMs = Math.min(WINDOW_MS, Math.max(1000, nowMs - this.#beganMs));
    return Math.round((this.#parts.reduce((sum, { bytes }) => sum + bytes, 0) * 1000) / lengthMs);
  }
}
