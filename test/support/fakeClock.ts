/** A clock that moves only when a test moves it, for code that takes `Clock` of the daemon. */
import type { Clock, Timer } from '../../src/daemon/base/clock.js';

interface Task {
  readonly dueMs: number;
  readonly number: number;
  run: (() => void) | null;
}

const isBefore = (a: Task, b: Task): boolean =>
  a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.number < b.number);

export class FakeClock implements Clock {
  private timeMs = 0;
  private numbers = 0;
  private readonly startSec: number;
  /** A binary heap; the first task is at the top. */
  private readonly tasks: Task[] = [];

  constructor(startSec = 1_700_000_000) {
    this.startSec = startSec;
  }

  nowMs(): number {
    return this.timeMs;
  }

  nowSec(): number {
    return this.startSec + Math.floor(this.timeMs / 1000);
  }

  after(delayMs: number, run: () => void): Timer {
    const task: Task = { dueMs: this.timeMs + Math.max(0, delayMs), number: this.numbers++, run };
    this.push(task);
    return {
      cancel: () => {
        task.run = null;
      },
    };
  }

  /**
   * Advances the clock and runs the tasks that become due, in order. Each task, and all promises that it settles, complete
   * before the next task.
   */
  async advance(byMs: number): Promise<void> {
    await this.runTo(this.timeMs + byMs, () => false);
  }

  /** Advances the clock until the promise settles. Returns its result. Throws after `limitMs`. */
  async until<T>(promise: Promise<T>, limitMs = 3_600_000): Promise<T> {
    let isSettled = false;
    const settled = (): void => {
      isSettled = true;
    };
    promise.then(settled, settled);
    await this.runTo(this.timeMs + limitMs, () => isSettled);
    if (!isSettled) throw new Error(`nothing came within ${limitMs} ms of simulated time`);
    return promise;
  }

  /** Advances the clock until the condition is true. Throws after `limitMs`. */
  async untilTrue(condition: () => boolean, limitMs = 3_600_000): Promise<void> {
    await this.runTo(this.timeMs + limitMs, condition);
    if (!condition()) throw new Error(`the condition did not hold within ${limitMs} ms of simulated time`);
  }

  private async runTo(endMs: number, isEnough: () => boolean): Promise<void> {
    await settle();
    while (!isEnough()) {
      const next = this.tasks[0];
      if (next === undefined || next.dueMs > endMs) {
        this.timeMs = endMs;
        return;
      }
      this.timeMs = next.dueMs;
      this.pop();
      if (next.run === null) continue;
      next.run();
      await settle();
    }
  }

  private push(task: Task): void {
    const heap = this.tasks;
    let at = heap.push(task) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(task, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = task;
  }

  private pop(): void {
    const heap = this.tasks;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

/** Waits until all promises that can settle now have settled. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
