/** Limits work to a share of the time. */

/** Divisor of the burst that gives the maximum debt. */
const MOST_DEBT = 10;

/** A time budget for work that must not delay other work: spent time is refilled at a fixed share of real time. */
export class TimeBudget {
  private readonly share: number;
  private readonly burstMs: number;
  private readonly nowMs: () => number;
  private leftMs: number;
  private atMs: number;

  /** At most `burstMs` can accumulate. */
  constructor(share: number, burstMs: number, nowMs: () => number) {
    this.share = share;
    this.burstMs = burstMs;
    this.nowMs = nowMs;
    this.leftMs = burstMs;
    this.atMs = nowMs();
  }

  private refill(): void {
    const now = this.nowMs();
    this.leftMs = Math.min(this.burstMs, this.leftMs + (now - this.atMs) * this.share);
    this.atMs = now;
  }

  /** Milliseconds until work may start. */
  waitMs(): number {
    this.refill();
    return this.leftMs > 0 ? 0 : Math.ceil(-this.leftMs / this.share) + 1;
  }

  spend(ms: number): void {
    this.refill();
    // Limits the debt, so that one long piece of work does not block for minutes.
    this.leftMs = Math.max(-this.burstMs / MOST_DEBT, this.leftMs - ms);
  }
}
