import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Chain } from '../../../src/chain/chain.js';
import { ChainEvents } from '../../../src/chain/chainEvents.js';
import { waitForWork } from '../../../src/mining/longPoll.js';

const TIPS = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

describe('waiting for better work', () => {
  let events: ChainEvents;
  let chain: { tip: number; events: ChainEvents };
  const source = { changeCount: 5 };
  const known = { tip: TIPS[0]!, changeCount: 5 };
  let gone: AbortController;
  let isOver: boolean;
  beforeEach(() => {
    vi.useFakeTimers();
    events = new ChainEvents();
    chain = { tip: 0, events };
    Object.assign(chain, { index: { headers: { hash: (id: number) => TIPS[id] } } });
    source.changeCount = 5;
    gone = new AbortController();
    isOver = false;
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const wait = (work = known): void =>
    void waitForWork(chain as unknown as Chain, source, work, gone.signal).then(() => (isOver = true));
  const passSec = (sec: number): Promise<unknown> => vi.advanceTimersByTimeAsync(sec * 1000);
  const announce = (): void =>
    events.emit('tipChanged', {
      id: chain.tip,
      height: 1,
      hash: TIPS[chain.tip]!,
      forkId: 0,
      initialDownload: false,
    });

  it('ends with another tip', async () => {
    wait();
    announce();
    await passSec(59);
    expect(isOver).toBe(false);
    chain.tip = 1;
    announce();
    await passSec(0);
    expect(isOver).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('checks for another mempool after a minute, and every ten seconds then', async () => {
    wait();
    source.changeCount++;
    await passSec(59);
    expect(isOver).toBe(false);
    source.changeCount--;
    await passSec(2);
    expect(isOver).toBe(false);
    source.changeCount++;
    await passSec(8);
    expect(isOver).toBe(false);
    await passSec(1);
    expect(isOver).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends with its last caller', async () => {
    wait();
    gone.abort();
    await passSec(0);
    expect(isOver).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('returns at once if there is other work already', async () => {
    wait({ tip: TIPS[1]!, changeCount: 5 });
    await passSec(0);
    expect(isOver).toBe(true);
  });
});
