import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { collectWhenIdle, threadPort } from '../../../src/util/memory/idleCollection.js';

const MB = 1 << 20;
const CHECK_MS = 5_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** A thread whose collection leaves 20 MB of heap. */
function thread() {
  const state = { heapBytes: 50 * MB, busyShare: 0, collections: 0 };
  const stop = collectWhenIdle({
    heapBytes: () => state.heapBytes,
    busyShare: () => state.busyShare,
    collect: () => {
      state.collections++;
      state.heapBytes = 20 * MB;
    },
  });
  return { state, stop };
}

test('an idle thread collects garbage once until its heap has grown', () => {
  const { state, stop } = thread();
  vi.advanceTimersByTime(2 * CHECK_MS);
  expect(state.collections).toBe(0);
  vi.advanceTimersByTime(8 * CHECK_MS);
  expect(state.collections).toBe(1);
  state.heapBytes = 25 * MB;
  vi.advanceTimersByTime(10 * CHECK_MS);
  expect(state.collections).toBe(1);
  state.heapBytes = 27 * MB;
  vi.advanceTimersByTime(CHECK_MS);
  expect(state.collections).toBe(2);
  stop();
});

test('a busy thread collects garbage after three idle checks in a row', () => {
  const { state, stop } = thread();
  const check = (busyShare: number): number => {
    state.busyShare = busyShare;
    vi.advanceTimersByTime(CHECK_MS);
    return state.collections;
  };
  expect([0.2, 0.01, 0.01, 0.2, 0.01, 0.01, 0.01].map(check)).toEqual([0, 0, 0, 0, 0, 0, 1]);
  stop();
});

test('the checks can be stopped', () => {
  const { state, stop } = thread();
  stop();
  vi.advanceTimersByTime(10 * CHECK_MS);
  expect(state.collections).toBe(0);
});

test('the port of a thread reads its load and collects its garbage', async () => {
  const port = threadPort();
  const makeGarbage = (): WeakRef<object> => new WeakRef({ list: [1, 2, 3] });
  const garbage = makeGarbage();
  await new Promise(setImmediate);
  port.collect();
  expect(garbage.deref()).toBe(undefined);
  expect(port.heapBytes()).toBeGreaterThan(MB);
  expect(port.busyShare()).toBeLessThanOrEqual(1);
});
