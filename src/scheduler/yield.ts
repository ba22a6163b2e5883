/**
 * Lets the event loop run during long synchronous work. All long work of a process waits in one queue, in order of request,
 * and each round of the loop gives one slice to the first of it. Other work therefore waits for one slice at most, however
 * long the queue is.
 */
import { SLICE_MS } from '../util/slices.js';

/** Long work that waits for a slice: functions that continue it with the start time of the slice. */
const waiting: ((sinceMs: number) => void)[] = [];
/** Time at which the last slice started, or at which work started to wait in an empty queue. */
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
 * Whether long work has waited for more than two slices, because other work took longer than its share of a round. New work
 * should then also wait for a slice.
 */
export function isSliceOverdue(): boolean {
  return waiting.length > 0 && performance.now() - servedMs >= 2 * SLICE_MS;
}

/** Waits for the slice after the next one, before all other waiting work. For work that is short as a whole or has priority. */
export function nextSlice(): Promise<number> {
  return lineUp(Math.min(1, waiting.length));
}

/**
 * Returns `sinceMs`, the start time of the current slice (`performance.now()`), if the slice may continue. Otherwise waits
 * for a slice in a later round of the loop and resolves with its start time. Must be called often during long work.
 */
export function yieldIfDue(sinceMs: number, sliceMs = SLICE_MS): Promise<number> | number {
  if (performance.now() - sinceMs < sliceMs) return sinceMs;
  return lineUp(waiting.length);
}
