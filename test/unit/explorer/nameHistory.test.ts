import { describe, expect, it } from 'vitest';
import { pastOf, placeOf, type Place } from '../../../src/explorer/pages/nameHistory.js';

interface Block {
  readonly height: number;
  readonly blockhash: string;
  readonly events: readonly { readonly event: string; readonly index: number }[];
}

/** As `getnamehistory` answers: the oldest first, a page ends with the block that brings so many events. */
function historyOf(counts: ReadonlyMap<number, number>) {
  const blocks: Block[] = [...counts].map(([height, count]) => ({
    height,
    blockhash: `hash${height}`,
    events: Array.from({ length: count }, (_, index) => ({ event: 'claim', index })),
  }));
  let asked = 0;
  const ask = (_: string, __: string, from: number, to: number, count: number): Promise<unknown> => {
    asked++;
    const page: Block[] = [];
    let events = 0;
    for (const block of blocks.filter(({ height }) => height >= from && height <= to)) {
      if (events >= count) return Promise.resolve({ blocks: page, next: block.height });
      page.push(block);
      events += block.events.length;
    }
    return Promise.resolve({ blocks: page });
  };
  return { ask: ask as never, asked: () => asked };
}

/** All events page by page, as `height:index`. */
async function walk(counts: ReadonlyMap<number, number>, end: number): Promise<string[]> {
  const { ask, asked } = historyOf(counts);
  const seen: string[] = [];
  let place: Place | null = { height: end, skipped: 0 };
  let pages = 0;
  while (place !== null) {
    const { events, older } = await pastOf(ask, 'name', false, place);
    expect(events.length).toBeLessThanOrEqual(50);
    seen.push(...events.map(({ height, index }) => `${height}:${index}`));
    place = older;
    pages++;
  }
  expect(asked()).toBeLessThanOrEqual(25 * pages);
  return seen;
}

describe('the history of a name', () => {
  it.each([
    [
      'few events',
      [
        [5, 2],
        [300, 1],
      ],
    ],
    ['a page exactly', [[7, 50]]],
    [
      'a block with thousands',
      [
        [10, 3],
        [400, 5000],
        [401, 2],
      ],
    ],
    ['many crowded blocks', Array.from({ length: 30 }, (_, n) => [100 + n * 3, 250] as const)],
    ['an event in each block', Array.from({ length: 700 }, (_, n) => [n + 1, 1] as const)],
    ['nothing', []],
  ] as const)('is shown whole, the latest first: %s', async (_, counts) => {
    const all = counts.flatMap(([height, count]) =>
      Array.from({ length: count }, (__, n) => `${height}:${n}`),
    );
    expect(await walk(new Map(counts), 1000)).toEqual(all.toReversed());
  });

  it('has places that links name', () => {
    expect(placeOf('120-50')).toEqual({ height: 120, skipped: 50 });
    expect(placeOf('120')).toEqual({ height: 120, skipped: 0 });
    expect(placeOf('x')).toBeNull();
  });
});
