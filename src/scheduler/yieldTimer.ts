/** Slices for long work that has priority over other long work. */
import { SLICE_MS } from '../util/slices.js';
import { nextSlice } from './yield.js';

/** Current slice of the work. After it ends, the work waits for at most one slice of other work. */
export class YieldTimer {
  private sinceMs = performance.now();

  get isDue(): boolean {
    return performance.now() - this.sinceMs >= SLICE_MS;
  }

  /** Waits for the next slice if the current one is used up. */
  async pause(): Promise<void> {
    if (this.isDue) this.sinceMs = await nextSlice();
  }

  /** Runs steps to their end, with yields when a slice is used up. */
  async run(steps: Iterable<void>): Promise<void> {
    for (const _ of steps) if (this.isDue) await this.pause();
  }
}
