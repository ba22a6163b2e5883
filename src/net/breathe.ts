/**
 * The event loop's time, shared out: whoever works for a peer and has used up a slice waits in line, and one of those who
 * wait goes on at a time. So a hundred peers that keep us busy take no more of the loop's time than one does, and the
 * chain, which fetches blocks from others meanwhile, is not held up. One line for the process, as there is one loop.
 */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';

/** The longest that one slice of work holds the loop, as in `util/breathe.ts`. */
const SLICE_MS = 15;
/** What is left to all others between two slices while more than one wait: this, or as a share of the slice. Arbitrary. */
const MIN_REST_MS = 2;
const REST_SHARE = 0.5;

const line: ((sinceMs: number) => void)[] = [];
let isMoving = false;

/**
 * Call it often with the time at which the present slice began (`performance.now()`): it waits for its turn when the slice
 * is used up. Returns the beginning of the slice from here on.
 */
export function breathe(sinceMs: number): Promise<number> | number {
  if (performance.now() - sinceMs < SLICE_MS) return sinceMs;
  return nextTurn();
}

/** Waits for a turn in any case. Resolves with the time at which the slice begins. */
export function nextTurn(): Promise<number> {
  return new Promise((resolve) => {
    line.push(resolve);
    if (!isMoving) void move();
  });
}

/** Lets one after the other go on until nobody waits. */
async function move(): Promise<void> {
  isMoving = true;
  await turn();
  for (;;) {
    const next = line.shift();
    if (next === undefined) break;
    const sinceMs = performance.now();
    next(sinceMs);
    // What it does in its slice is done when this goes on.
    await turn();
    if (line.length > 0) await sleep(Math.max(MIN_REST_MS, (performance.now() - sinceMs) * REST_SHARE));
  }
  isMoving = false;
}
