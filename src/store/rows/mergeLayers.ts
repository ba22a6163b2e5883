/** Reads several ordered layers of rows as one. Rows in memory hide rows on disk. Stores no rows. */
import type { Bytes } from '../../util/bytes.js';
import type { RowRange } from './rows.js';

const ASCENDING: RowRange = { gte: '', lt: '' };

/** Returns the rows within a range, in the order of the range. The value null marks a deletion. */
export type Layer = (range: RowRange) => AsyncIterable<[string, Bytes | null]>;

/** Creates a layer from rows in memory. */
export async function* fromArray(rows: [string, Bytes | null][]): AsyncGenerator<[string, Bytes | null]> {
  yield* rows;
}

/**
 * Merges ordered layers of rows, the newest layer first. A row of an earlier layer hides the rows with the same key in later
 * layers. Deletions are omitted.
 */
export async function* mergeLayers(range: RowRange, layers: Layer[]): AsyncGenerator<[string, Bytes]> {
  const sign = range.reverse ? -1 : 1;
  const sources = layers.map((layer) => layer(range)[Symbol.asyncIterator]());
  let left = range.limit ?? Infinity;
  try {
    const heads = await Promise.all(sources.map((source) => source.next()));
    while (left > 0) {
      let best: string | null = null;
      for (const head of heads) {
        if (head.done) continue;
        if (best === null || (head.value[0] < best ? -1 : head.value[0] > best ? 1 : 0) * sign < 0)
          best = head.value[0];
      }
      if (best === null) return;
      let winner: Bytes | null | undefined;
      for (let i = 0; i < heads.length; i++) {
        const head = heads[i]!;
        if (head.done || head.value[0] !== best) continue;
        if (winner === undefined) winner = head.value[1];
        heads[i] = await sources[i]!.next();
      }
      if (winner) {
        left--;
        yield [best, winner];
      }
    }
  } finally {
    await Promise.all(sources.map((source) => source.return?.(undefined)));
  }
}

/**
 * Merges two lists of rows in the order of the range. Rows of the upper list, including deletions, hide rows of the lower
 * list.
 */
export function mergeRows(
  range: RowRange,
  above: readonly [string, Bytes | null][],
  below: readonly [string, Bytes][],
): [string, Bytes][] {
  const sign = range.reverse ? -1 : 1;
  const most = range.limit ?? Infinity;
  const rows: [string, Bytes][] = [];
  let a = 0;
  let b = 0;
  while (rows.length < most) {
    const upper = above[a];
    const lower = below[b];
    if (upper === undefined && lower === undefined) break;
    const order =
      upper === undefined
        ? 1
        : lower === undefined
          ? -1
          : sign * (upper[0] < lower[0] ? -1 : upper[0] > lower[0] ? 1 : 0);
    if (order > 0) rows.push(below[b++]!);
    else {
      if (upper![1] !== null) rows.push([upper![0], upper![1]]);
      a++;
      if (order === 0) b++;
    }
  }
  return rows;
}

/**
 * Merges ascending rows in memory (`above`) with ascending batches of rows. Rows in memory, including deletions, hide rows
 * of the batches.
 */
export async function* mergeBatches(
  above: readonly [string, Bytes | null][],
  below: AsyncIterable<[string, Bytes][]>,
): AsyncGenerator<[string, Bytes][]> {
  let at = 0;
  for await (const batch of below) {
    const from = at;
    const last = batch.at(-1)![0];
    while (at < above.length && above[at]![0] <= last) at++;
    const rows = at === from ? batch : mergeRows(ASCENDING, above.slice(from, at), batch);
    if (rows.length > 0) yield rows;
  }
  const rest = mergeRows(ASCENDING, above.slice(at), []);
  if (rest.length > 0) yield rest;
}

/**
 * Returns the range with a larger limit: `hidden` rows of upper layers may each hide one row of the range, so that many more
 * rows must be read.
 */
export function reaching(range: RowRange, hidden: number): RowRange {
  return range.limit === undefined ? range : { ...range, limit: range.limit + hidden };
}

/** Reverses rows in ascending order if the range is in descending order. */
export function inOrder<Row>(rows: Row[], { reverse }: RowRange): Row[] {
  return reverse ? rows.reverse() : rows;
}
