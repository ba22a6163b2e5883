/** Computes the speed and the remaining time of a task from occasional progress reports. */

export interface Sample {
  readonly done: number;
  readonly total: number;
  readonly txCount: number;
}

/** Milliseconds over which the speed is averaged. Arbitrary: long enough to be steady, short enough to follow changes. */
const WINDOW_MS = 60_000;
/** Minimum distance in ms of two stored samples. A sample within this time replaces the previous one. */
const STEP_MS = 1000;

export class ProgressPace {
  private readonly samples: { ms: number; done: number; txCount: number }[] = [];
  private newest: { ms: number; done: number; total: number; txCount: number } | null = null;

  add(ms: number, { done, total, txCount }: Sample): void {
    const last = this.samples.at(-1);
    if (last === undefined || ms - last.ms >= STEP_MS) this.samples.push({ ms, done, txCount });
    while (this.samples.length > 1 && ms - this.samples[0]!.ms > WINDOW_MS) this.samples.shift();
    this.newest = { ms, done, total, txCount };
  }

  /** Speed in transactions per second; null while unknown. */
  get txPerSec(): number | null {
    return this.rate(({ txCount }) => txCount);
  }

  /** Estimated seconds until completion at the current speed; null while unknown. */
  get leftSec(): number | null {
    const perSec = this.rate(({ done }) => done);
    if (this.newest === null || perSec === null || perSec <= 0) return null;
    return Math.max(0, this.newest.total - this.newest.done) / perSec;
  }

  private rate(of: (sample: { done: number; txCount: number }) => number): number | null {
    const oldest = this.samples[0];
    if (oldest === undefined || this.newest === null || this.newest.ms === oldest.ms) return null;
    return (of(this.newest) - of(oldest)) / ((this.newest.ms - oldest.ms) / 1000);
  }
}
