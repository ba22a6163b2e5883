import { describe, expect, it } from 'vitest';
import { RateLimit, visitorOf } from '../../../src/explorer/limits.js';
import { AskError, BusyError, ExplorerRpcStub } from '../../../src/explorer/explorerRpcStub.js';
import type { FromExplorer } from '../../../src/explorer/messages.js';

describe('limits', () => {
  it('let a burst pass, then a rate, for each visitor by himself', () => {
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

describe('questions to the node', () => {
  function port() {
    const sent: Extract<FromExplorer, { kind: 'question' }>[] = [];
    const node = new ExplorerRpcStub((message) => {
      if (message.kind === 'question') sent.push(message);
    });
    return { node, sent };
  }

  it('are two at a time, and one question is asked once', async () => {
    const { node, sent } = port();
    const answers = [node.ask('a', 1), node.ask('a', 1), node.ask('b'), node.ask('c')];
    expect(sent.map(({ method }) => method)).toEqual(['a', 'b']);
    node.answered(sent[0]!.id, '{"result": 7, "error": null}');
    expect(sent.map(({ method }) => method)).toEqual(['a', 'b', 'c']);
    expect(await Promise.all(answers.slice(0, 2))).toEqual([7, 7]);
    node.answered(sent[1]!.id, '{"result": null, "error": {"code": -8, "message": "no"}}');
    await expect(answers[2]).rejects.toEqual(new AskError(-8, 'no'));
    node.answered(sent[2]!.id, '{"result": 9, "error": null}');
    expect(await answers[3]).toBe(9);
    void node.ask('a', 1);
    expect(sent).toHaveLength(4);
  });

  it('are refused when too many wait', async () => {
    const { node } = port();
    const waiting = Array.from({ length: 66 }, (_, n) => node.ask('a', n));
    await expect(node.ask('one more')).rejects.toBeInstanceOf(BusyError);
    for (const one of waiting) one.catch(() => undefined);
  });
});
