/**
 * Lets the event loop run during long synchronous work. Of all that work so in this process one has a slice in each turn of
 * the loop, in the order in which they asked: however many there are, all others wait for one slice.
 */

/** The longest that one slice of work holds the loop (design.md). */
export const SLICE_MS = 15;

/** Those that wait for a slice. */
const waiting: ((sinceMs: number) => void)[] = [];

function serve(): void {
  const go = waiting.shift();
  if (waiting.length > 0) setImmediate(serve);
  go?.(performance.now());
}

/**
 * Call it often with the time at which the present slice began (`performance.now()`): it waits for the next one when it is
 * used up, which begins in another turn of the loop. Returns the beginning of the slice from here on.
 */
export function breathe(sinceMs: number, sliceMs = SLICE_MS): Promise<number> | number {
  if (performance.now() - sinceMs < sliceMs) return sinceMs;
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(serve);
  });
}
