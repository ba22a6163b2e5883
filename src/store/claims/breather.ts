/** Lets the event loop breathe in long computations: hands over after about 15 ms. */
import { setImmediate as nextTurn } from 'node:timers/promises';

const SLICE_MS = 15;

export class Breather {
  private since = performance.now();

  get isDue(): boolean {
    return performance.now() - this.since > SLICE_MS;
  }

  /** Runs to its end what yields now and then. */
  async run(steps: Iterable<void>): Promise<void> {
    for (const _ of steps) if (this.isDue) await this.pause();
  }

  /** Hands over if the slice is used up. */
  async pause(): Promise<void> {
    if (!this.isDue) return;
    await nextTurn();
    this.since = performance.now();
  }
}
