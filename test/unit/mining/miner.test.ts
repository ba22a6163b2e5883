import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPEN_SCRIPT, TestChain } from '../../support/testChain.js';

describe('mining many blocks', () => {
  let chain: TestChain;
  beforeAll(async () => {
    chain = await TestChain.open({ txIndex: false });
  });
  afterAll(() => chain.close());

  it('lets sockets be read and written between two blocks', async () => {
    const blocks = 60;
    let turns = 0;
    let isMining = true;
    const counting = (async () => {
      for (; isMining; turns++) await turn();
    })();
    await chain.miner.generate(OPEN_SCRIPT, blocks, Infinity, new AbortController().signal);
    isMining = false;
    await counting;
    console.log(turns);
    expect(turns).toBeGreaterThanOrEqual(blocks);
  });
});
