/** Limits a kind of work to a share of the time. */

export interface TimeBudgetOptions {
  /** Part of the elapsed time that the work may use. */
  readonly share: number;
  /** Maximum of the budget in milliseconds. */
  readonly burstMs: number;
  /** Maximum debt in milliseconds, so that one long task does not block later work for minutes. */
  readonly debtMs: number;
  readonly nowMs: () => number;
  /** Returns the time in milliseconds that the work has used since the start of the process. */
  readonly usedMs: () => number;
}

/**
 * Time budget for work that must not delay other work. The time of the work is subtracted from the budget, which grows by a
 * fixed share of the elapsed time.
 */
export class TimeBudget {
  private readonly options: TimeBudgetOptions;
  private leftMs: number;
  private atMs: number;
  private usedMs: number;

  constructor(options: TimeBudgetOptions) {
    this.options = options;
    this.leftMs = options.burstMs;
    this.atMs = options.nowMs();
    this.usedMs = options.usedMs();
  }

  /** Sets the budget to its maximum. Work until now does not count. */
  reset(): void {
    this.leftMs = this.options.burstMs;
    this.atMs = this.options.nowMs();
    this.usedMs = this.options.usedMs();
  }

  /** Time in milliseconds until the budget is above `leastMs`; 0 if it is above. A negative `leastMs` permits a debt. */
  waitMs(leastMs = 0): number {
    const { share, burstMs, debtMs, nowMs, usedMs } = this.options;
    const [now, used] = [nowMs(), usedMs()];
    const grown = Math.min(burstMs, this.leftMs + (now - this.atMs) * share);
    this.leftMs = Math.max(-debtMs, grown - (used - this.usedMs));
    [this.atMs, this.usedMs] = [now, used];
    return this.leftMs > leastMs ? 0 : Math.ceil((leastMs - this.leftMs) / share) + 1;
  }
}
