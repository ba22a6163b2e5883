/**
 * Lets the event loop run during long synchronous work. All long work of a process waits in one line: one part of it has a
 * slice in each round of the loop, in order of request. So other work waits for one slice, whatever the length of the line.
 */
import { SLICE_MS } from '../util/slices.js';

/** Work that waits for a slice. */
const waiting: ((sinceMs: number) => void)[] = [];
/** When the last slice began, or the first work began to wait. */
let servedMs = 0;

function serve(): void {
  const go = waiting.shift();
  if (waiting.length > 0) setImmediate(serve);
  servedMs = performance.now();
  go?.(servedMs);
}

function lineUp(place: number): Promise<number> {
  return new Promise((resolve) => {
    if (waiting.length === 0) {
      servedMs = performance.now();
      setImmediate(serve);
    }
    waiting.splice(place, 0, resolve);
  });
}

/**
 * Whether other work has used up its time in one round of the loop, besides the slice of that round, while long work waits
 * for the next slice. New work should then wait for a slice too.
 */
export function isSliceOverdue(): boolean {
  return waiting.length > 0 && performance.now() - servedMs >= 2 * SLICE_MS;
}

/** Waits for the slice behind the next one, before all others: for work that is short as a whole, or goes first. */
export function nextSlice(): Promise<number> {
  return lineUp(Math.min(1, waiting.length));
}

/**
 * Call it often with the time at which the present slice began (`performance.now()`). When the slice is used up, the function
 * waits for the next one, in a later round of the loop. Returns the beginning of the slice from here on.
 */
export function yieldIfDue(sinceMs: number, sliceMs = SLICE_MS): Promise<number> | number {
  if (performance.now() - sinceMs < sliceMs) return sinceMs;
  return lineUp(waiting.length);
}
