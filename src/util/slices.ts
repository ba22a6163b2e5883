/**
 * Long work as a generator that yields regularly. The work can run without pauses (`atOnce`), or in time slices between
 * which the event loop runs (`inSlices` of `scheduler/slices.ts`). So the same code can be used synchronously and without
 * blocking the event loop. This file is independent of the event loop.
 */

/** Maximum time for which one slice of work blocks the event loop. */
export const SLICE_MS = 15;

/** Work that may be paused at each `yield`. Between two yields it should run for at most about a millisecond. */
export type Slices<T> = Generator<undefined, T, undefined>;

/**
 * Maximum size of texts and arrays that are processed without a yield. Processing this size takes less than a few
 * milliseconds.
 */
export const AT_ONCE_SIZE = 65_536;

/** Runs the work to its end without pauses. Returns the result. */
export function atOnce<T>(work: Slices<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** Number of items of a long list between two yields to the event loop, if each item needs little work. */
const STEP = 256;

/** Iterates over a long list. Yields null regularly, so that the caller may yield to the event loop. */
export function* inSteps<T extends object>(items: Iterable<T>): Generator<T | null, void, undefined> {
  let count = 0;
  for (const item of items) {
    yield item;
    if (++count % STEP === 0) yield null;
  }
}

/** Number of items that are sorted without a yield. The sorted runs are then merged in slices. */
const RUN_LENGTH = 4096;
/** Number of items that are merged between two yields to the event loop. */
const MERGE_STEP = 1024;

/** Sorts items in slices, with the result of `toSorted`. The sort is stable. */
export function* sortedInSlices<T>(items: readonly T[], compare: (a: T, b: T) => number): Slices<T[]> {
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += RUN_LENGTH) {
    runs.push(items.slice(at, at + RUN_LENGTH).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let n = 0; n < runs.length; n += 2) {
      const right = runs[n + 1];
      merged.push(right === undefined ? runs[n]! : yield* merge(runs[n]!, right, compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<T>(left: readonly T[], right: readonly T[], compare: (a: T, b: T) => number): Slices<T[]> {
  const out: T[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const takesLeft = r === right.length || (l < left.length && compare(left[l]!, right[r]!) <= 0);
    out.push(takesLeft ? left[l++]! : right[r++]!);
    if (out.length % MERGE_STEP === 0) yield;
  }
  return out;
}
