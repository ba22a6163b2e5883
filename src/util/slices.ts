/**
 * Long work in pieces: a generator that yields regularly. It is run at once (`atOnce`), or in slices between which the event
 * loop runs (`inSlices` of `scheduler/slices.ts`). The same code thus serves synchronous callers and callers that must not
 * block the event loop. This file is independent of the event loop.
 */

/** Maximum time for which one slice of work blocks the event loop. */
export const SLICE_MS = 15;

/** Work that may pause at each `yield`. It should run at most about a millisecond between two of them. */
export type Slices<T> = Generator<undefined, T, undefined>;

/** Maximum size of texts and arrays that are processed at once: less than a few milliseconds. */
export const AT_ONCE_SIZE = 65_536;

/** Runs the work to its end without a pause. */
export function atOnce<T>(work: Slices<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** Number of items of a long list between two yields, if each is little work. */
const STEP = 256;

/** The items of a long list, with regular nulls at which the caller may pause. */
export function* inSteps<T extends object>(items: Iterable<T>): Generator<T | null, void, undefined> {
  let count = 0;
  for (const item of items) {
    yield item;
    if (++count % STEP === 0) yield null;
  }
}

/** Number of items sorted without a pause; the sorted runs are then merged in slices. */
const RUN_LENGTH = 4096;
/** Items merged between two yields. */
const MERGE_STEP = 1024;

/** The items sorted as by `toSorted`; the sort is stable. */
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
