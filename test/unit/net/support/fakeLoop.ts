/** An event loop whose rounds and whose time a test makes pass. */
import type { Loop } from '../../../../src/scheduler/peerQueue.js';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class FakeLoop implements Loop {
  private timeMs = 0;
  private due: [first: () => void, second: () => void][] = [];
  /** Time that was worked, and that was left to others. */
  workedMs = 0;
  restedMs = 0;
  /** Passes at each look at the clock: each message costs something. */
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

  /** Makes rounds: what follows from the first half without waiting is done before the second. */
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
