/** Counts bytes to and from peers. Source: lbry-sdk lbry/connection_manager.py `ConnectionManager`. */
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { float } from '../base/answerJson.js';
import type { Clock, Timer } from '../base/clock.js';

/** Source: `_update`. */
const WINDOW_MS = 100;
const MEGABYTE = 1_000_000;

class Direction {
  #window = new Map<string, number>();
  /** Bytes per second of each peer in the last complete window. */
  rates: ReadonlyMap<string, number> = new Map();
  total = 0;
  megabytesPerSecond = 0;
  max = 0;

  add(peer: string, bytes: number): void {
    this.#window.set(peer, (this.#window.get(peer) ?? 0) + bytes);
    this.total += bytes;
  }

  endWindow(lengthMs: number): void {
    this.rates = new Map([...this.#window].map(([peer, bytes]) => [peer, (bytes * 1000) / lengthMs]));
    this.#window = new Map();
    this.megabytesPerSecond =
      Math.floor([...this.rates.values()].reduce((sum, one) => sum + one, 0)) / MEGABYTE;
    this.max = Math.max(this.max, this.megabytesPerSecond);
  }

  get isQuiet(): boolean {
    return this.#window.size === 0;
  }

  shownRates(): JsonOut {
    return Object.fromEntries([...this.rates].map(([peer, rate]) => [peer, float(rate)]));
  }
}

export class Bandwidth {
  readonly #clock: Clock;
  readonly #isOn: () => boolean;
  #in = new Direction();
  #out = new Direction();
  #timer: Timer | null = null;
  #windowBeganMs = 0;

  /**
   * Creates the counter. `isOn` is called at each use. While it returns false, nothing is counted, and old counts are
   * deleted.
   */
  constructor(clock: Clock, isOn: () => boolean) {
    this.#clock = clock;
    this.#isOn = isOn;
  }

  /** Counts bytes sent to `peer` (`address:port`). */
  sent(peer: string, bytes: number): void {
    if (this.#begin()) this.#out.add(peer, bytes);
  }

  received(peer: string, bytes: number): void {
    if (this.#begin()) this.#in.add(peer, bytes);
  }

  /** Whether bytes are counted. If so, starts the timer of the measuring windows, which runs only during transfers. */
  #begin(): boolean {
    if (!this.#isOn()) {
      this.#forget();
      return false;
    }
    if (this.#timer === null) {
      this.#windowBeganMs = this.#clock.nowMs();
      this.#timer = this.#clock.after(WINDOW_MS, () => this.#endWindow());
    }
    return true;
  }

  #endWindow(): void {
    this.#timer = null;
    const isQuiet = this.#in.isQuiet && this.#out.isQuiet;
    const now = this.#clock.nowMs();
    const lengthMs = Math.max(1, now - this.#windowBeganMs);
    for (const direction of [this.#in, this.#out]) direction.endWindow(lengthMs);
    if (isQuiet) return;
    this.#windowBeganMs = now;
    this.#timer = this.#clock.after(WINDOW_MS, () => this.#endWindow());
  }

  #forget(): void {
    this.close();
    this.#in = new Direction();
    this.#out = new Direction();
  }

  /** Value of `blob_manager.connections` in `status`; `{}` while counting is off. */
  status(): JsonOut {
    if (!this.#isOn()) {
      this.#forget();
      return {};
    }
    return {
      incoming_bps: this.#in.shownRates(),
      outgoing_bps: this.#out.shownRates(),
      total_incoming_mbs: float(this.#in.megabytesPerSecond),
      total_outgoing_mbs: float(this.#out.megabytesPerSecond),
      total_sent: this.#out.total,
      total_received: this.#in.total,
      max_incoming_mbs: float(this.#in.max),
      max_outgoing_mbs: float(this.#out.max),
    };
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }
}
