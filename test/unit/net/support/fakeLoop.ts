/** A simulated event loop. The test determines its iterations and its time. */
import type { Loop } from '../../../../src/scheduler/peerQueue.js';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class FakeLoop implements Loop {
  private timeMs = 0;
  private due: [first: () => void, second: () => void][] = [];
  /** Time spent in tasks, and time spent outside them. */
  workedMs = 0;
  restedMs = 0;
  /** Time that each reading of the clock takes. It stands for the cost of a message. */
  readonly stepMs: number;

  constructor(stepMs = 0) {
    this.stepMs = stepMs;
  }

  nowMs(): number {
    this.timeMs += this.stepMs;
    return this.timeMs;
  }

  nextRound(first: () => void, second: () => void): void {
    this.due.push([first, second]);
  }

  /** Runs the task at once, and moves the fake time forward by `ms`. */
  after(ms: number, task: () => void): void {
    this.restedMs += ms;
    this.timeMs += ms;
    task();
  }

  /** Someone works so long. */
  pass(ms: number): void {
    this.timeMs += ms;
    this.workedMs += ms;
  }

  /** Runs iterations. Promises that settle in the first half of an iteration are handled before the second half. */
  async rounds(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      await settled();
      for (const [first, second] of this.due.splice(0)) {
        first();
        await settled();
        second();
      }
    }
  }
}
