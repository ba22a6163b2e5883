import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { letOthersWork } from '../../../src/scheduler/pace.js';
import { OPEN_SCRIPT, TestChain } from '../../support/testChain.js';

const BLOCKS = 60;

describe('mining many blocks', () => {
  let chain: TestChain;
  beforeAll(async () => {
    chain = await TestChain.open({ txIndex: false });
  });
  afterAll(() => chain.close());

  /** Mines, and counts how often `work` completes meanwhile. */
  async function countWhileMining(work: () => Promise<unknown>): Promise<number> {
    let done = 0;
    let isMining = true;
    const working = (async () => {
      for (; isMining; done++) await work();
    })();
    const { length } = await chain.miner.generate(
      OPEN_SCRIPT,
      BLOCKS,
      Infinity,
      new AbortController().signal,
    );
    expect(length).toBe(BLOCKS);
    isMining = false;
    await working;
    return done;
  }

  it('mines another block if the same one was invalidated', async () => {
    const [former] = await chain.mine(1);
    const { index } = chain.opened.chain;
    await chain.opened.chain.invalidateBlock(index.active.tip);
    const [latter] = await chain.mine(1);
    expect(latter).not.toEqual(former);
    expect(index.headers.hash(index.active.tip)).toEqual(latter);
  });

  it('lets the event loop handle sockets between two blocks', async () => {
    expect(await countWhileMining(() => turn())).toBeGreaterThanOrEqual(BLOCKS);
  });
});

describe('letting others work', () => {
  /** Number of iterations of the event loop until the work is finished. Another task occupies the loop for `busyMs` in each. */
  async function turnsOf(workedMs: number, busyMs: number): Promise<number> {
    let nowMs = 1000;
    let turns = 0;
    let isOver = false;
    const other = (async () => {
      for (; !isOver; turns++) {
        await turn();
        nowMs += busyMs;
      }
    })();
    await letOthersWork(workedMs, () => nowMs);
    isOver = true;
    await other;
    // The last iteration only detects the end.
    return turns - 1;
  }

  it('takes one turn on an idle loop, however long the block took', async () => {
    expect(await turnsOf(1e9, 0)).toBe(1);
  });

  it('gives a busy loop as much time as the block took, and one turn in any case', async () => {
    expect(await turnsOf(20, 2)).toBe(10);
    expect(await turnsOf(0, 2)).toBe(1);
    expect(await turnsOf(5, 1000)).toBe(1);
  });
});
