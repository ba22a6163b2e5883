/**
 * Lets the event loop run during long synchronous work. All long work of a process waits in one queue: one part of it has a
 * slice in each round of the loop, in order of request. Other work therefore waits for one slice at most, whatever the
 * length of the queue.
 */
import { SLICE_MS } from '../util/slices.js';

/** Work waiting for a slice. */
const waiting: ((sinceMs: number) => void)[] = [];
/** Time at which the last slice started, or the first work started to wait. */
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
 * Whether other work has used up its time in a round of the loop, in addition to that round's slice, while long work waits
 * for the next slice. New work should then wait for a slice too.
 */
export function isSliceOverdue(): boolean {
  return waiting.length > 0 && performance.now() - servedMs >= 2 * SLICE_MS;
}

/** Waits for the slice after the next one, before all other waiting work: for work that is short as a whole or has priority. */
export function nextSlice(): Promise<number> {
  return lineUp(Math.min(1, waiting.length));
}

/**
 * Call it often with the start time of the current slice (`performance.now()`). When the slice is used up, it waits for the
 * next one, in a later round of the loop. Returns the start time of the slice that is current afterwards.
 */
export function yieldIfDue(sinceMs: number, sliceMs = SLICE_MS): Promise<number> | number {
  if (performance.now() - sinceMs < sliceMs) return sinceMs;
  return lineUp(waiting.length);
}
