/** The limit of the explorer's time during a sync, on fake time. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SyncLimit } from '../../../src/explorer/syncLimit.js';

describe('requests during a sync', () => {
  let nowMs: number;
  let workedMs: number;
  let limit: SyncLimit;
  /** Visitors in the order in which their requests are answered or refused. */
  let order: string[];

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    [nowMs, workedMs, order] = [0, 0, []];
    limit = new SyncLimit({ nowMs: () => nowMs, workedMs: () => workedMs });
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

  it('are answered four at a time', async () => {
    for (const visitor of ['a', 'b', 'c', 'd', 'e', 'f']) void ask(visitor);
    await advance(0);
    expect(order).toEqual(['a', 'b', 'c', 'd']);
    limit.leave();
    await advance(0);
    expect(order.at(-1)).toBe('e');
  });

  it('use a twentieth of the time of a core after a burst', async () => {
    expect(await ask('a')).toBe(true);
    workedMs += 300;
    limit.leave();
    void ask('a');
    await advance(400);
    expect(order).toEqual(['a']);
    await advance(1);
    expect(order).toEqual(['a', 'a']);
    workedMs += 10;
    limit.leave();
    void ask('a');
    await advance(199);
    expect(order).toHaveLength(2);
    await advance(2);
    expect(order).toHaveLength(3);
  });

  it('of a visitor with few requests are next, and a request of the visitor with the most is refused', async () => {
    for (let n = 0; n < 68; n++) void ask('flood');
    void ask('one');
    await advance(0);
    expect(order).toEqual([...Array<string>(4).fill('flood'), 'flood refused']);
    limit.leave();
    limit.leave();
    await advance(0);
    expect(order.slice(5).toSorted()).toEqual(['flood', 'one']);
  });

  it('are refused after ten seconds', async () => {
    for (let n = 0; n < 5; n++) void ask('a');
    await advance(9_999);
    expect(order).toHaveLength(4);
    await advance(1);
    expect(order.at(-1)).toBe('a refused');
    // A refused request does not count as one that is being answered.
    limit.leave();
    expect(await ask('b')).toBe(true);
  });

  it('are all answered at the end of the sync, and the time of an earlier sync does not count', async () => {
    for (let n = 0; n < 10; n++) void ask('a');
    await advance(0);
    expect(order).toHaveLength(4);
    limit.isSyncing = false;
    await advance(0);
    expect(order).toHaveLength(10);
    for (let n = 0; n < 10; n++) limit.leave();
    workedMs += 60_000;
    limit.isSyncing = true;
    expect(await ask('b')).toBe(true);
  });
});
