/** The limit of the explorer's time during a sync, on fake time. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SyncLimit } from '../../../src/explorer/syncLimit.js';

describe('requests during a sync', () => {
  let nowMs: number;
  let workedMs: number;
  let calledMs: number;
  let limit: SyncLimit;
  /** Visitors in the order in which their requests are answered or refused. */
  let order: string[];

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    [nowMs, workedMs, calledMs, order] = [0, 0, 0, []];
    limit = new SyncLimit({ nowMs: () => nowMs, workedMs: () => workedMs, calledMs: () => calledMs });
    limit.isSyncing = true;
  });
  afterEach(() => void vi.useRealTimers());

  const advance = async (ms: number): Promise<void> => {
    nowMs += ms;
    await vi.advanceTimersByTimeAsync(ms);
  };
  const ask = (visitor: string): Promise<boolean> =>
    limit.enter(visitor).then((isAllowed) => {
      order.push(isAllowed ? visitor : `${visitor} refused`);
      return isAllowed;
    });

  /** Sends so many requests that the visitor counts as one with many. */
  const askMany = (visitor: string, count: number): void => {
    for (let n = 0; n < 8 + count; n++) void ask(visitor);
  };

  it('are answered two at a time, those of a visitor with many one at a time', async () => {
    for (const visitor of ['a', 'b', 'c']) void ask(visitor);
    await advance(0);
    expect(order).toEqual(['a', 'b']);
    limit.leave();
    await advance(0);
    expect(order).toEqual(['a', 'b', 'c']);
    limit.leave();
    limit.leave();
    askMany('flood', 2);
    for (let n = 0; n < 8; n++) {
      await advance(0);
      limit.leave();
    }
    await advance(0);
    expect(order).toHaveLength(3 + 8 + 1);
  });

  it.each([
    ['5 % of the time of a core', (): unknown => (workedMs += 300), 2000],
    ["3 % of the time of the node's thread", (): unknown => (calledMs += 400), 3334],
  ])('use %s after a burst', async (_, work, waitMs) => {
    expect(await ask('a')).toBe(true);
    work();
    limit.leave();
    void ask('b');
    await advance(waitMs);
    expect(order).toEqual(['a']);
    await advance(1);
    expect(order).toEqual(['a', 'b']);
  });

  it('are answered after five seconds at the latest, also if the budget stays used up', async () => {
    nowMs = 60_000;
    expect(await ask('a')).toBe(true);
    workedMs += 60_000;
    limit.leave();
    void ask('b');
    for (let n = 0; n < 49; n++) {
      await advance(100);
      workedMs += 50;
    }
    expect(order).toEqual(['a']);
    await advance(100);
    expect(order).toEqual(['a', 'b']);
  });

  it('of visitors with few requests may use the half of the budget that those with many leave', async () => {
    askMany('flood', 2);
    for (let n = 0; n < 9; n++) {
      await advance(0);
      workedMs += 12;
      limit.leave();
    }
    await advance(0);
    // 200 ms minus 108 ms are below half of the budget.
    expect(order).toEqual(Array<string>(9).fill('flood'));
    void ask('one');
    await advance(0);
    expect(order.at(-1)).toBe('one');
    workedMs += 150;
    limit.leave();
    void ask('two');
    await advance(0);
    expect(order.at(-1)).toBe('one');
    // A response from the cache may use the debt.
    void limit.enter('three', true).then(() => order.push('three'));
    await advance(0);
    expect(order.at(-1)).toBe('three');
  });

  it('of a visitor with few requests are next, and a request of the visitor with the most is refused', async () => {
    for (let n = 0; n < 66; n++) void ask('flood');
    void ask('one');
    await advance(0);
    expect(order).toEqual(['flood', 'flood', 'flood refused']);
    limit.leave();
    await advance(0);
    expect(order.at(-1)).toBe('one');
  });

  it('are refused after ten seconds', async () => {
    for (let n = 0; n < 3; n++) void ask('a');
    await advance(9_999);
    expect(order).toHaveLength(2);
    await advance(1);
    expect(order.at(-1)).toBe('a refused');
    // A refused request does not count as one that is being answered.
    limit.leave();
    expect(await ask('b')).toBe(true);
  });

  it('are all answered at the end of the sync, and the time of an earlier sync does not count', async () => {
    for (let n = 0; n < 10; n++) void ask('a');
    await advance(0);
    expect(order).toHaveLength(2);
    limit.isSyncing = false;
    await advance(0);
    expect(order).toHaveLength(10);
    for (let n = 0; n < 10; n++) limit.leave();
    workedMs += 60_000;
    limit.isSyncing = true;
    expect(await ask('b')).toBe(true);
  });
});
