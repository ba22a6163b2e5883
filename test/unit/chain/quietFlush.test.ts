import { afterEach, beforeEach, describe, expect, it, vi, type MockInstance } from 'vitest';
import { QUIET_MS } from '../../../src/chain/chain.js';
import type { RowStore } from '../../../src/store/rows/rowStore.js';
import { TestChain } from '../../support/testChain.js';

/** With a script of this size, the coins of a block take about nine kilobytes of the cache. */
const BIG_SCRIPT = Buffer.alloc(9000, 0x51);

describe('data in memory', () => {
  let chain: TestChain;
  let flush: MockInstance<RowStore['flush']>;

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    chain = await TestChain.open();
    flush = vi.spyOn(chain.opened.store, 'flush');
  });
  afterEach(async () => {
    await chain.close();
    vi.useRealTimers();
  });

  /** Advances the time and waits until the work of the timers is done. */
  async function pass(ms: number): Promise<void> {
    vi.advanceTimersByTime(ms);
    await chain.opened.chain.exclusively(() => Promise.resolve());
  }

  it('is flushed once no block has arrived for a while, and only once', async () => {
    await chain.mine(130, BIG_SCRIPT);
    await pass(QUIET_MS - 1);
    await chain.mine(1);
    await pass(QUIET_MS - 1);
    expect(flush).toHaveBeenCalledTimes(0);
    await pass(1);
    expect(flush).toHaveBeenCalledTimes(1);
    await pass(10 * QUIET_MS);
    expect(flush).toHaveBeenCalledTimes(1);
  });

  it('is not flushed if a kill would lose very little', async () => {
    await chain.mine(3);
    await pass(10 * QUIET_MS);
    expect(flush).toHaveBeenCalledTimes(0);
  });

  it('is left to the stop once that has begun', async () => {
    await chain.mine(130, BIG_SCRIPT);
    chain.opened.chain.interrupt();
    await pass(QUIET_MS);
    expect(flush).toHaveBeenCalledTimes(0);
  });
});
