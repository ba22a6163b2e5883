/** Limits a kind of work to a share of the time. */

/** The maximum debt of the budget is its burst divided by this number. */
const MOST_DEBT = 10;

/**
 * Time budget for work that must not delay other work. The time of the work is subtracted from the budget, which grows by a
 * fixed share of the elapsed time.
 */
export class TimeBudget {
  private readonly share: number;
  private readonly burstMs: number;
  private readonly nowMs: () => number;
  private leftMs: number;
  private atMs: number;

  /** `share`: part of the time that work may use. `burstMs`: maximum of the budget. */
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

  /** Time in milliseconds to wait until work may start; 0 if the budget is not used up. */
  waitMs(): number {
    this.refill();
    return this.leftMs > 0 ? 0 : Math.ceil(-this.leftMs / this.share) + 1;
  }

  spend(ms: number): void {
    this.refill();
    // The debt is limited, so that one long piece of work does not block later work for minutes.
    this.leftMs = Math.max(-this.burstMs / MOST_DEBT, this.leftMs - ms);
  }
}
