/** Work that must not take more than a share of the time. */

/** Part of the burst that may be owed. */
const MOST_DEBT = 10;

/** A share of the time for work that must not hold up other work: what is spent comes back at that share of the clock. */
export class TimeBudget {
  private readonly share: number;
  private readonly burstMs: number;
  private readonly nowMs: () => number;
  private leftMs: number;
  private atMs: number;

  /** At most `burstMs` are saved up. */
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

  /** Milliseconds until work may begin. */
  waitMs(): number {
    this.refill();
    return this.leftMs > 0 ? 0 : Math.ceil(-this.leftMs / this.share) + 1;
  }

  spend(ms: number): void {
    this.refill();
    // One long piece of work does not block for minutes.
    this.leftMs = Math.max(-this.burstMs / MOST_DEBT, this.leftMs - ms);
  }
}
