/**
 * A growing set of keys that is sorted on demand. New keys are stored unsorted. A query sorts them into sorted runs, and
 * each run is at least twice as long as the next run. So keys have no sorting cost until a query, and the cost of a query
 * depends on the number of keys added since the previous query, not on the number of all keys.
 */
import { lowerBound } from '../../util/lowerBound.js';

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export class SortedKeys {
  private fresh: string[] = [];
  /** Sorted runs of keys, beginning with the longest run. */
  private runs: string[][] = [];

  /** Adds a key that is not in the set yet. */
  add(key: string): void {
    this.fresh.push(key);
  }

  clear(): void {
    this.fresh = [];
    this.runs = [];
  }

  /** Keys from `gte` up to but not including `lt`, in ascending order. */
  between(gte: string, lt: string): string[] {
    this.settle();
    let found: string[] = [];
    for (const run of this.runs) {
      const from = lowerBound(run, gte);
      const to = lowerBound(run, lt);
      if (from < to) found = merge(found, run.slice(from, to));
    }
    return found;
  }

  private settle(): void {
    if (this.fresh.length === 0) return;
    let run = this.fresh.sort(byCodeUnit);
    this.fresh = [];
    for (let last = this.runs.at(-1); last && last.length < 2 * run.length; last = this.runs.at(-1)) {
      this.runs.pop();
      run = merge(last, run);
    }
    this.runs.push(run);
  }
}

function merge(a: string[], b: string[]): string[] {
  if (a.length === 0) return b;
  const merged: string[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) merged.push(a[i]! < b[j]! ? a[i++]! : b[j++]!);
  while (i < a.length) merged.push(a[i++]!);
  while (j < b.length) merged.push(b[j++]!);
  return merged;
}
