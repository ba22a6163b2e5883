import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { codeUnmapper, returnIdleMemory } from '../../../../src/daemon/base/idleMemory.js';

/** Until the first check. */
const FIRST_MS = 1_500;

beforeEach(
  () => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] }),
);
afterEach(() => void vi.useRealTimers());

test('an idle thread compacts its heap, trims the heap of the C library, and unmaps code', async () => {
  const steps: string[] = [];
  const port = {
    heapBytes: () => 40 << 20,
    busyShare: () => 0,
    collect: (compacts: boolean) => void steps.push(compacts ? 'compact' : 'collect'),
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
  expect(steps).toEqual(['compact', 'trim', 'unmap']);
});

test('without the addon only garbage is collected', () => {
  const collect = vi.fn();
  const stop = returnIdleMemory({ heapBytes: () => 0, busyShare: () => 0, collect }, null);
  vi.advanceTimersByTime(FIRST_MS);
  expect(collect).toHaveBeenCalledOnce();
  stop();
});

test('code is unmapped when 4 MiB of files were mapped since the lowest value', () => {
  const unmapIdleCode = vi.fn(() => Promise.reject(new Error('no thread')));
  let pages = 0;
  const check = codeUnmapper(() => pages, { unmapIdleCode });
  const calls = [5000, 6023, 6024, 4000, 5023, 5024, 5024].map((now) => {
    pages = now;
    check();
    return unmapIdleCode.mock.calls.length;
  });
  expect(calls).toEqual([0, 0, 1, 1, 1, 2, 3]);
  codeUnmapper(() => 0, null)();
});

test.skipIf(process.platform !== 'linux')('the pages of the own process are counted', () => {
  const unmapIdleCode = vi.fn(() => Promise.resolve());
  const check = codeUnmapper(undefined, { unmapIdleCode });
  check();
  check();
  expect(unmapIdleCode).not.toHaveBeenCalled();
});
