import { describe, expect, it } from 'vitest';
import { atOneTip } from '../../../../../src/rpc/methods/addressindex/atOneTip.js';
import type { RpcServices } from '../../../../../src/interfaces/services.js';
import { SerialQueue } from '../../../../../src/scheduler/serialQueue.js';

function setUp() {
  const queue = new SerialQueue();
  const chain = { tip: 1, exclusively: queue.run.bind(queue) };
  const services = { chain: { chain } } as unknown as Pick<RpcServices, 'chain'>;
  return { chain, queue, services };
}

describe('atOneTip', () => {
  it('waits for a change of the chain that is in progress', async () => {
    const { chain, queue, services } = setUp();
    let finish!: () => void;
    const changing = queue.run(() => new Promise<void>((resolve) => (finish = resolve)));
    const answer = atOneTip(services, async () => chain.tip);
    await Promise.resolve();
    chain.tip = 2;
    finish();
    await changing;
    expect(await answer).toBe(2);
  });

  it('starts again if the tip changed', async () => {
    const { chain, services } = setUp();
    const tips: number[] = [];
    const answer = await atOneTip(services, async () => {
      const before = chain.tip;
      tips.push(before);
      if (tips.length < 3) chain.tip++;
      return before;
    });
    expect(tips).toEqual([1, 2, 3]);
    expect(answer).toBe(3);
  });

  it('blocks changes of the chain if the tip keeps changing', async () => {
    const { chain, queue, services } = setUp();
    let isRead = false;
    const busy = (async () => {
      while (!isRead) await queue.run(async () => void chain.tip++);
    })();
    const answer = await atOneTip(services, async () => {
      const before = chain.tip;
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      return { before, after: chain.tip };
    });
    isRead = true;
    await busy;
    expect(answer.after).toBe(answer.before);
  });
});
