/** Runs work in slices (`util/slices.ts`). When the time of a slice is used up, the work yields to the event loop. */
import type { Slices } from '../util/slices.js';
import { yieldIfDue } from './yield.js';

/** Runs work to its end. After each part, `pause` returns a promise to wait for, or null to continue immediately. */
export async function runSlices<T>(work: Slices<T>, pause: () => Promise<unknown> | null): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    const wait = pause();
    if (wait !== null) await wait;
  }
}

/** Time at which the slice in the current round of the event loop began, in milliseconds; 0 if no slice has begun. */
let sliceSinceMs = 0;

/** Returns the start time of the current slice. All work in one round of the event loop shares one slice. */
function presentSlice(): number {
  return sliceSinceMs === 0 ? beginSlice(performance.now()) : sliceSinceMs;
}

function beginSlice(nowMs: number): number {
  if (sliceSinceMs === 0) setImmediate(endSlice);
  sliceSinceMs = nowMs;
  return nowMs;
}

function endSlice(): void {
  sliceSinceMs = 0;
}

/** Runs work in slices that it shares with other long work of the process. */
export async function inSlices<T>(work: Slices<T>): Promise<T> {
  let since = presentSlice();
  const begin = (nowMs: number): void => {
    since = beginSlice(nowMs);
  };
  return runSlices(work, () => {
    const pause = yieldIfDue(since);
    return typeof pause === 'number' ? null : pause.then(begin);
  });
}
