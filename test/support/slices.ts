/** Counting the pauses of work in slices: what tells, without a clock, that it would not hold the event loop. */
import { SLICE_MS } from '../../src/util/slices.js';
import type { Slices } from '../../src/util/slices.js';

export function countPauses<T>(work: Slices<T>): { value: T; pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = work.next();
    if (done === true) return { value, pauses };
  }
}

/**
 * Does work, and counts the turns that the event loop takes meanwhile. By the clock of the work each look at it takes
 * `lookMs`, a whole slice by default: so the turns tell how often it looked, and not how fast the machine is.
 */
export async function countTurns<T>(
  work: () => Promise<T>,
  lookMs = SLICE_MS,
): Promise<{ value: T; turns: number }> {
  const { now } = performance;
  // An integer, so that the difference of two readings is exact. With a fraction, rounding at a power of two would change it.
  let nowMs = Math.ceil(now.call(performance));
  // No spy, which would keep a note of each look.
  performance.now = () => (nowMs += lookMs);
  let turns = 0;
  let isOver = false;
  setImmediate(function turn() {
    turns++;
    if (!isOver) setImmediate(turn);
  });
  try {
    return { value: await work(), turns };
  } finally {
    isOver = true;
    performance.now = now;
  }
}
