/** Lets the event loop run during long synchronous work. */
import { setImmediate } from 'node:timers/promises';

/** The longest that one slice of work holds the loop (design.md). */
export const SLICE_MS = 15;

/**
 * Call it often with the time at which the present slice began (`performance.now()`): it waits for the loop's next turn
 * when the slice is used up. Returns the beginning of the slice from here on.
 */
export function breathe(sinceMs: number, sliceMs = SLICE_MS): Promise<number> | number {
  if (performance.now() - sinceMs < sliceMs) return sinceMs;
  return setImmediate(undefined).then(() => performance.now());
}
