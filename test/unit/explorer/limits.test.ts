import { describe, expect, it, vi } from 'vitest';
import { TimeBudget } from '../../../src/explorer/timeBudget.js';
import { RateLimit, visitorOf } from '../../../src/explorer/limits.js';
import { AskError, BusyError, ExplorerRpcClient } from '../../../src/explorer/explorerRpcClient.js';

describe('limits', () => {
  it('allow a burst, then a rate, for each visitor separately', () => {
    let nowMs = 0;
    const limit = new RateLimit({ rate: 2, burst: 3 }, () => nowMs);
    const take = (visitor: string): number | null => limit.take(visitor);
    expect([take('a'), take('a'), take('a'), take('a'), take('b')]).toEqual([null, null, null, 1, null]);
    nowMs += 500;
    expect([take('a'), take('a')]).toEqual([null, 1]);
    nowMs += 60_000;
    expect([take('a'), take('a'), take('a'), take('a')]).toEqual([null, null, null, 1]);
  });

  it.each([
    ['1.2.3.4', '1.2.3.4'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ])('count %s as %s', (address, visitor) => {
    expect(visitorOf(address)).toBe(visitor);
  });
});

describe('a share of the time', () => {
  it('is saved up, and is repaid at that share', () => {
    let nowMs = 0;
    const budget = new TimeBudget(0.1, 1000, () => nowMs);
    budget.spend(900);
    expect(budget.waitMs()).toBe(0);
    budget.spend(150);
    expect(budget.waitMs()).toBe(501);
    nowMs += 501;
    expect(budget.waitMs()).toBe(0);
    // A long operation does not block the visitor for minutes.
    budget.spend(60_000);
    expect(budget.waitMs()).toBe(1001);
    nowMs += 60_000;
    budget.spend(999);
    expect(budget.waitMs()).toBe(0);
  });
});

describe('calls to the node', () => {
  /** A client, the calls that it sent, and a function that answers the call with a number. */
  function port(nowMs?: () => number) {
    const sent: { readonly method: string; readonly params: readonly unknown[] }[] = [];
    const answers: ((text: string) => void)[] = [];
    const node = new ExplorerRpcClient((method, params) => {
      sent.push({ method, params });
      return new Promise((resolve) => answers.push(resolve));
    }, nowMs);
    const answer = async (call: number, text: string): Promise<void> => {
      answers[call]!(text);
      for (let n = 0; n < 10; n++) await Promise.resolve();
    };
    return { node, sent, answer };
  }

  it('run two at a time, and equal calls once', async () => {
    const { node, sent, answer } = port();
    const answers = [node.ask('a', 1), node.ask('a', 1), node.ask('b'), node.ask('c')];
    expect(sent.map(({ method }) => method)).toEqual(['a', 'b']);
    await answer(0, '{"result": 7, "error": null}');
    expect(sent.map(({ method }) => method)).toEqual(['a', 'b', 'c']);
    expect(await Promise.all(answers.slice(0, 2))).toEqual([7, 7]);
    await answer(1, '{"result": null, "error": {"code": -8, "message": "no"}}');
    await expect(answers[2]).rejects.toEqual(new AskError(-8, 'no'));
    await answer(2, '{"result": 9, "error": null}');
    expect(await answers[3]).toBe(9);
    void node.ask('a', 1);
    expect(sent).toHaveLength(4);
  });

  it('are sent again after a change, because the pending call may return the state before it', async () => {
    const { node, sent, answer } = port();
    const before = node.ask('a', 1);
    node.forget();
    const later = [node.ask('a', 1), node.ask('a', 1)];
    expect(sent).toHaveLength(2);
    await answer(0, '{"result": "old"}');
    expect(await before).toBe('old');
    // The end of the first call does not make the second one unknown.
    void node.ask('a', 1);
    expect(sent).toHaveLength(2);
    await answer(1, '{"result": "new"}');
    expect(await Promise.all(later)).toEqual(['new', 'new']);
  });

  it('run one by one while the node syncs, within their share of the time', async () => {
    vi.useFakeTimers();
    try {
      let nowMs = 0;
      const { node, sent, answer } = port(() => nowMs);
      node.isSyncing = true;
      const asked = Array.from({ length: 4 }, (_, n) => node.ask('a', n));
      expect(sent).toHaveLength(1);
      nowMs += 150;
      await answer(0, '{"result": 0}');
      expect(sent).toHaveLength(2);
      nowMs += 180;
      await answer(1, '{"result": 1}');
      // The budget had 300 ms, and 3 % of 330 ms were added.
      expect(sent).toHaveLength(2);
      nowMs += 4000;
      await vi.advanceTimersByTimeAsync(4000);
      expect(sent.map(({ params }) => params)).toEqual([[0], [1], [2]]);
      node.isSyncing = false;
      await answer(2, '{"result": 2}');
      await answer(3, '{"result": 3}');
      expect(await Promise.all(asked)).toEqual([0, 1, 2, 3]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('are refused if too many wait', async () => {
    const { node } = port();
    const waiting = Array.from({ length: 66 }, (_, n) => node.ask('a', n));
    await expect(node.ask('one more')).rejects.toBeInstanceOf(BusyError);
    for (const one of waiting) one.catch(() => undefined);
  });
});
