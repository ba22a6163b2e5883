/** Counting the pauses of work in slices: what tells, without a clock, that it would not hold the event loop. */
import type { Slices } from '../../src/util/slices.js';

export function countPauses<T>(work: Slices<T>): { value: T; pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = work.next();
    if (done === true) return { value, pauses };
  }
}
