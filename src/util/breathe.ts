/**
 * Lets the event loop run during long synchronous work. Of all that work so in this process one has a slice in each turn of
 * the loop, in the order in which they asked: however many there are, all others wait for one slice.
 */

/** The longest that one slice of work holds the loop (design.md). */
export const SLICE_MS = 15;

/** Those that wait for a slice. */
const waiting: ((sinceMs: number) => void)[] = [];
/** When the last slice began, or the first waited. */
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
 * Whether others have used up what the loop has for them in one turn, the slice of that turn aside, while somebody waits for
 * the next. What is new then should wait for a slice as well.
 */
export function isSliceOverdue(): boolean {
  return waiting.length > 0 && performance.now() - servedMs >= 2 * SLICE_MS;
}

/** Waits for a slice behind the one that comes next, before all others; for what is short, as a whole. */
export function nextSlice(): Promise<number> {
  return lineUp(Math.min(1, waiting.length));
}

/**
 * Call it often with the time at which the present slice began (`performance.now()`): it waits for the next one when it is
 * used up, which begins in another turn of the loop. Returns the beginning of the slice from here on.
 */
export function breathe(sinceMs: number, sliceMs = SLICE_MS): Promise<number> | number {
  if (performance.now() - sinceMs < sliceMs) return sinceMs;
  return lineUp(waiting.length);
}
