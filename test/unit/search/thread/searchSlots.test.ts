import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { BackendPage } from '../../../../src/search/searchBackend.js';
import { SearchError } from '../../../../src/search/query/searchError.js';
import type { SearchQuery } from '../../../../src/search/query/searchQuery.js';
import { SearchSlots } from '../../../../src/search/thread/searchSlots.js';

const PAGE: BackendPage = { rows: [], total: 0, blocked: [], height: 1 };
/** So long that no time limit is reached during a test. */
const TIMEOUT_MS = 10_000_000;
const SHORT_MS = 500;

interface Running {
  readonly name: string;
  readonly slot: number;
  readonly leftMs: number;
  /** Ends the search after this time, with a result or at its time limit. */
  end(tookMs: number): Promise<void>;
}

let now: number;
let running: Running[];
beforeEach(() => {
  now = 0;
  running = [];
});

function makeSlots(count: number, maxWaiting = 1000): SearchSlots<number> {
  const slots = Array.from({ length: count }, (_, n) => n);
  const options = { timeoutMs: TIMEOUT_MS, shortMs: SHORT_MS, maxWaiting, nowMs: () => now };
  return new SearchSlots(slots, options, (slot, query, leftMs) => {
    const name = query as unknown as string;
    return new Promise<BackendPage>((resolve, reject) => {
      const one: Running = {
        name,
        slot,
        leftMs,
        async end(tookMs) {
          running.splice(running.indexOf(one), 1);
          now += tookMs;
          if (tookMs >= leftMs) reject(new SearchError('timeout', 'query timed out'));
          else resolve(PAGE);
          await setImmediate();
        },
      };
      running.push(one);
    });
  });
}

const query = (name: string): SearchQuery => name as unknown as SearchQuery;
const names = (): string[] => running.map(({ name }) => name).sort();
const find = (name: string): Running => running.find((one) => one.name === name)!;
const outcome = (page: Promise<BackendPage>): Promise<string> =>
  page.then(
    () => 'answered',
    (error: Error) => error.message,
  );

describe('searches', () => {
  it('that are long leave a slot to others, and have all of their time', async () => {
    const slots = makeSlots(2);
    const [greedy, honest] = [{}, {}];
    const long = ['a', 'b', 'c'].map((name) => outcome(slots.search(query(name), greedy)));
    expect(names()).toEqual(['a', 'b']);
    expect(find('a').leftMs).toBe(SHORT_MS);
    await find('a').end(SHORT_MS);
    // A long search is restarted after the searches that arrived before. Only one long search runs at a time.
    expect(names()).toEqual(['b', 'c']);
    await find('b').end(SHORT_MS);
    expect(names()).toEqual(['a', 'c']);
    expect(find('a').leftMs).toBe(TIMEOUT_MS - 2 * SHORT_MS);
    const one = outcome(slots.search(query('honest'), honest));
    await find('c').end(SHORT_MS);
    expect(names()).toEqual(['a', 'honest']);
    await find('honest').end(5);
    expect(await one).toBe('answered');
    expect(names()).toEqual(['a']);
    expect(slots.load).toEqual({ running: 1, waiting: 2 });
    await find('a').end(TIMEOUT_MS);
    expect(await long[0]).toBe('query timed out');
    // The other searches had waited for as long, so they time out too.
    expect(await Promise.all(long)).toEqual(Array.from(long, () => 'query timed out'));
  });

  it('of a client with little use are run before those of one with much', async () => {
    const slots = makeSlots(1);
    const [first, second] = [{}, {}];
    for (const name of ['a', 'b', 'c']) void slots.search(query(name), first);
    void slots.search(query('d'), second);
    void slots.search(query('e'), second);
    const order: string[] = [];
    while (running.length > 0) {
      order.push(running[0]!.name);
      await running[0]!.end(running[0]!.name < 'd' ? 100 : 30);
    }
    expect(order).toEqual(['a', 'd', 'e', 'b', 'c']);
  });

  it('beyond the limit are refused to the client with the most waiting ones', async () => {
    const slots = makeSlots(1, 3);
    const [greedy, honest] = [{}, {}];
    const asked = Array.from({ length: 4 }, (_, n) => outcome(slots.search(query(`greedy ${n}`), greedy)));
    const one = outcome(slots.search(query('honest'), honest));
    expect(await asked[3]).toBe('Too many searches are waiting');
    expect(slots.load).toEqual({ running: 1, waiting: 3 });
    await running[0]!.end(100);
    expect(names()).toEqual(['honest']);
    await running[0]!.end(1);
    expect(await one).toBe('answered');
    slots.close();
    expect(await asked[2]).toBe('The search index is closed');
    await expect(slots.search(query('late'), honest)).rejects.toThrow('closed');
  });

  it('end at their time limit while they wait', async () => {
    const slots = new SearchSlots([0], { timeoutMs: 20 }, () => new Promise<BackendPage>(() => undefined));
    void slots.search(query('stuck'), {});
    await expect(slots.search(query('waits'), {})).rejects.toMatchObject({ kind: 'timeout' });
  });
});
