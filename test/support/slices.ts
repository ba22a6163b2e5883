/** Counts the yields of long work. This shows, without measuring time, that the work does not block the event loop. */
import { SLICE_MS } from '../../src/util/slices.js';
import type { Slices } from '../../src/util/slices.js';

export function countPauses<T>(work: Slices<T>): { value: T; pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = work.next();
    if (done === true) return { value, pauses };
  }
}

/**
 * Runs the work and counts the iterations of the event loop meanwhile. Each time the work reads its clock, the clock advances
 * by `lookMs`, by default a whole slice. So the number shows how often the work read the clock, not how fast the machine is.
 */
export async function countTurns<T>(
  work: () => Promise<T>,
  lookMs = SLICE_MS,
): Promise<{ value: T; turns: number }> {
  const { now } = performance;
  // An integer, so that the difference of two readings is exact. With a fraction, rounding at a power of two would change it.
  let nowMs = Math.ceil(now.call(performance));
  // Not a spy, because a spy records each call.
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
