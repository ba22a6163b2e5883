import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { returnIdleMemory } from '../../../../src/daemon/base/idleMemory.js';

/** Until the first check. */
const FIRST_MS = 1_500;

beforeEach(
  () => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] }),
);
afterEach(() => void vi.useRealTimers());

test('an idle thread collects garbage, trims the heap of the C library, and unmaps code', async () => {
  const steps: string[] = [];
  const port = {
    heapBytes: () => 40 << 20,
    busyShare: () => 0,
    collect: () => void steps.push('collect'),
  };
  const trimHeap = (): Promise<boolean> => {
    steps.push('trim');
    return Promise.resolve(true);
  };
  const unmapped = new Promise<void>((resolve) => {
    const unmapIdleCode = (): Promise<void> => {
      steps.push('unmap');
      resolve();
      return Promise.reject(new Error('no thread'));
    };
    const stop = returnIdleMemory(port, { trimHeap, unmapIdleCode });
    vi.advanceTimersByTime(FIRST_MS);
    stop();
  });
  await unmapped;
  expect(steps).toEqual(['collect', 'trim', 'unmap']);
});

test('without the addon only garbage is collected', () => {
  const collect = vi.fn();
  const stop = returnIdleMemory({ heapBytes: () => 0, busyShare: () => 0, collect }, null);
  vi.advanceTimersByTime(FIRST_MS);
  expect(collect).toHaveBeenCalledOnce();
  stop();
});
