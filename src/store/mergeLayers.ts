/** Reads several ordered layers of rows as one: what lies in memory over what lies on disk. Owns no rows. */
import type { Bytes } from '../util/bytes.js';
import type { RowRange } from './rows.js';

/** Rows within a range in its order; `null` marks a deletion. */
export type Layer = (range: RowRange) => AsyncIterable<[string, Bytes | null]>;

/** A layer's rows that are at hand. */
export async function* fromArray(rows: [string, Bytes | null][]): AsyncGenerator<[string, Bytes | null]> {
  yield* rows;
}

/** Merges ordered layers, the first hiding the later ones; deletions drop out. */
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
