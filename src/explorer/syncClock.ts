/** Estimates the remaining time of a sync from the blocks of the last minute. */

const WINDOW_MS = 60_000;
/** Minimum number of milliseconds before an estimate is made. */
const LEAST_MS = 5000;

interface Sample {
  readonly atMs: number;
  readonly height: number;
}

export class SyncClock {
  private samples: Sample[] = [];

  /** Records the current height. Returns the seconds until the height `target`; null while unknown. */
  note(height: number, target: number, nowMs: number): number | null {
    const [last] = this.samples.slice(-1);
    if (last && height < last.height) this.samples = [];
    this.samples.push({ atMs: nowMs, height });
    const begin = this.samples.findIndex(({ atMs }) => atMs >= nowMs - WINDOW_MS);
    this.samples.splice(0, begin);
    const [first] = this.samples;
    const tookMs = nowMs - first!.atMs;
    const blocks = height - first!.height;
    if (tookMs < LEAST_MS || blocks <= 0) return null;
    return (Math.max(0, target - height) * tookMs) / blocks / 1000;
  }
}
