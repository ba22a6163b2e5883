/**
 * Long work in pieces: a generator that yields now and then. It is run at once (`atOnce`), or in slices between which the event
 * loop runs (`inSlices` of `scheduler/slices.ts`). So what may be large is written once, for callers that wait and for callers
 * that must not hold the loop. Nothing here knows the event loop.
 */

/** The longest that one slice of work holds the event loop. */
export const SLICE_MS = 15;

/** Work that may pause at each `yield`. It should not run longer than about a millisecond between two of them. */
export type Slices<T> = Generator<undefined, T, undefined>;

/** Texts and arrays of up to this size are handled at once: it takes less than a few milliseconds. */
export const AT_ONCE_SIZE = 65_536;

/** Runs the work to its end without a pause. */
export function atOnce<T>(work: Slices<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** Items of a long list between two yields where each is little work. */
const STEP = 256;

/** The items of a long list, with null now and then, where the work that goes through them may pause. */
export function* inSteps<T extends object>(items: Iterable<T>): Generator<T | null, void, undefined> {
  let count = 0;
  for (const item of items) {
    yield item;
    if (++count % STEP === 0) yield null;
  }
}

/** Items sorted without a pause while others are merged in slices. */
const RUN_LENGTH = 4096;
/** Items merged between two yields. */
const MERGE_STEP = 1024;

/** The items in order, as `toSorted` gives them; equal ones stay in theirs. */
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
