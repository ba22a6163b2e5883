/** Source of time and randomness; tests replace it. */
import { randomBytes } from 'node:crypto';

export interface Timer {
  /** Cancels the timer. Without effect if the task has run or was cancelled. */
  cancel(): void;
}

export interface Clock {
  /** Unix time in whole seconds. The system may set it back. */
  nowSec(): number;
  /** Monotonic time in milliseconds. */
  nowMs(): number;
  /** Runs the task once, after `delayMs` milliseconds. */
  after(delayMs: number, task: () => void): Timer;
}

export interface DaemonRandom {
  bytes(count: number): Buffer;
}

/** Longest delay of a timer of Node.js in milliseconds, some 25 days. A longer delay would end at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  nowSec: () => Math.floor(Date.now() / 1000),
  nowMs: () => performance.now(),
  after: (delayMs, task) => {
    const timer = setTimeout(task, Math.min(delayMs, MAX_DELAY_MS));
    return { cancel: () => clearTimeout(timer) };
  },
};

export const systemRandom: DaemonRandom = { bytes: (count) => randomBytes(count) };

/** Resolves when the promise resolves, or after `limitMs` milliseconds at the latest. Rejects if the promise rejects before. */
export async function atMost(clock: Clock, limitMs: number, promise: Promise<unknown>): Promise<void> {
  let timer: Timer | undefined;
  const late = new Promise<void>((resolve) => {
    timer = clock.after(limitMs, resolve);
  });
  try {
    await Promise.race([promise, late]);
  } finally {
    timer?.cancel();
  }
}

/** Resolves to true after this many milliseconds, to false as soon as the signal aborts. */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const onAbort = (): void => {
      timer.cancel();
      resolve(false);
    };
    const timer = clock.after(delayMs, () => {
      signal.removeEventListener('abort', onAbort);
      resolve(true);
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
