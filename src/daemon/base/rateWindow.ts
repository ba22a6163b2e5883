/** Measures a rate in bytes per second over the last seconds. */
import type { Clock } from './clock.js';

/** Length of the measured time window. Arbitrary. */
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

  /** If the measurement began less than five seconds ago, the rate is over the time since then, but at least over one second. */
  get perSecond(): number {
    const nowMs = this.#clock.nowMs();
    this.#forget(nowMs);
    const lengthMs = Math.min(WINDOW_MS, Math.max(1000, nowMs - this.#beganMs));
    return Math.round((this.#parts.reduce((sum, { bytes }) => sum + bytes, 0) * 1000) / lengthMs);
  }
}
