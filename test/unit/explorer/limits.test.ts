import { describe, expect, it } from 'vitest';
import { TimeBudget } from '../../../src/explorer/timeBudget.js';
import { RateLimit, visitorOf } from '../../../src/explorer/limits.js';
import { AskError, BusyError, ExplorerRpcClient } from '../../../src/explorer/explorerRpcClient.js';
import { stringifyJson } from '../../../src/util/json/jsonStream.js';

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
    let [nowMs, usedMs] = [0, 0];
    const clocks = { nowMs: () => nowMs, usedMs: () => usedMs };
    const budget = new TimeBudget({ share: 0.1, burstMs: 1000, debtMs: 100, ...clocks });
    usedMs += 900;
    expect([budget.waitMs(), budget.waitMs(100), budget.waitMs(200)]).toEqual([0, 1, 1001]);
    usedMs += 150;
    expect([budget.waitMs(), budget.waitMs(-100)]).toEqual([501, 0]);
    nowMs += 501;
    expect(budget.waitMs()).toBe(0);
    // A long operation does not block the visitor for minutes.
    usedMs += 60_000;
    expect(budget.waitMs()).toBe(1001);
    nowMs += 60_000;
    usedMs += 999;
    expect(budget.waitMs()).toBe(0);
    usedMs += 60_000;
    budget.reset();
    expect(budget.waitMs(999)).toBe(0);
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

  it('return numbers that a double would round as strings, and exactly on request', async () => {
    const { node, answer } = port();
    const result =
      '{"a": 1083202000.00000001, "b": [0.10000000, -90071992547409931], "c": {"title": ":12345678.12345678"}}';
    const [plain, exact] = [node.ask('a'), node.askExactly('a')];
    await answer(0, `{"result": ${result}, "error": null, "id": 0}`);
    expect(await plain).toEqual({
      a: '1083202000.00000001',
      b: [0.1, '-90071992547409931'],
      c: { title: ':12345678.12345678' },
    });
    expect(stringifyJson(await exact)).toBe(result.replaceAll(/(?<=[:,]) /g, ''));
    const failing = node.askExactly('b');
    await answer(1, '{"result": null, "error": {"code": -8, "message": "no"}}');
    await expect(failing).rejects.toEqual(new AskError(-8, 'no'));
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

  it('are counted by their times', async () => {
    let nowMs = 0;
    const { node, answer } = port(() => nowMs);
    const asked = [node.ask('a'), node.ask('b')];
    nowMs += 150;
    await answer(0, '{"result": 0}');
    nowMs += 30;
    await answer(1, '{"result": null, "error": {"code": -1, "message": "no"}}');
    expect(node.calledMs).toBe(330);
    await Promise.allSettled(asked);
  });

  it('are refused if too many wait', async () => {
    const { node } = port();
    const waiting = Array.from({ length: 66 }, (_, n) => node.ask('a', n));
    await expect(node.ask('one more')).rejects.toBeInstanceOf(BusyError);
    for (const one of waiting) one.catch(() => undefined);
  });
});
