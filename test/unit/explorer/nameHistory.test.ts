import { describe, expect, it } from 'vitest';
import { pastOf, placeOf, spansOf, type Place } from '../../../src/explorer/pages/name/nameHistory.js';

interface Block {
  readonly height: number;
  readonly blockhash: string;
  readonly events: readonly { readonly event: string; readonly index: number }[];
}

/** An answer of `getnamehistory` with the order newest: exactly the requested number of events, the latest first. */
function historyOf(counts: ReadonlyMap<number, number>) {
  const all = [...counts].flatMap(([height, count]) =>
    Array.from({ length: count }, (_, index) => ({ height, index })),
  );
  let asked = 0;
  const ask = (...call: readonly unknown[]): Promise<unknown> => {
    asked++;
    const [, , , to, count, , order, skip] = call as [
      string,
      string,
      number,
      number,
      number,
      boolean,
      string,
      number,
    ];
    expect(order).toBe('newest');
    const rest = all.filter(({ height }) => height < to);
    const last = all.filter(({ height }) => height === to);
    const left = [...rest, ...last.slice(0, Math.max(0, last.length - skip))].toReversed();
    const blocks: Block[] = [];
    for (const { height, index } of left.slice(0, count)) {
      const block = blocks.at(-1)?.height === height ? blocks.pop()! : { height, blockhash: '', events: [] };
      blocks.push({ ...block, events: [...block.events, { event: 'claim', index }] });
    }
    const next = left[count];
    if (next === undefined) return Promise.resolve({ blocks });
    const shown = all.filter(({ height, index }) => height === next.height && index > next.index).length;
    return Promise.resolve({ blocks, next: next.height, skip: shown });
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
    const { events, older, blocks } = await pastOf(ask, 'name', false, place);
    expect(events.length).toBeLessThanOrEqual(50);
    expect(blocks.map(({ height }) => height)).toEqual(
      blocks.map(({ height }) => height).toSorted((a, b) => a - b),
    );
    seen.push(...events.map((event) => `${event.height}:${(event as unknown as { index: number }).index}`));
    place = older;
    pages++;
  }
  // The name is read once for each page.
  expect(asked()).toBe(pages);
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

  it('has the owners with their last amounts, and the time in which the name was free', () => {
    const block = (height: number, claimId?: string, effectiveAmount = 0) => ({
      height,
      blockhash: '',
      events: [],
      ...(claimId !== undefined && { owner: { claimId, effectiveAmount } }),
    });
    const blocks = [
      block(5, 'a', 1),
      block(7, 'a', 3),
      block(9),
      block(12),
      block(20, 'b', 2),
      block(30, 'a', 4),
    ];
    expect(spansOf(blocks, 30)).toEqual([
      { claimId: 'a', from: 5, to: 9, amount: 3 },
      { claimId: null, from: 9, to: 20, amount: 0 },
      { claimId: 'b', from: 20, to: 30, amount: 2 },
      { claimId: 'a', from: 30, to: 31, amount: 4 },
    ]);
    expect(spansOf([], 30)).toEqual([]);
  });

  it('has positions for links', () => {
    expect(placeOf('120-50')).toEqual({ height: 120, skipped: 50 });
    expect(placeOf('120')).toEqual({ height: 120, skipped: 0 });
    for (const text of ['x', '9999999999', '1-9999999999']) expect(placeOf(text)).toBeNull();
  });
});
