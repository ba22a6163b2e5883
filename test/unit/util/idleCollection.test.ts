import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { collectWhenIdle, threadPort, type LightLoad } from '../../../src/util/memory/idleCollection.js';

const MB = 1 << 20;
const CHECK_MS = 2_500;

beforeEach(
  () => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] }),
);
afterEach(() => void vi.useRealTimers());

/** A thread whose collection leaves 20 MB of heap. */
function thread(light: LightLoad | null = null) {
  const state = { heapBytes: 50 * MB, busyShare: 0, collections: 0, compacted: [] as boolean[] };
  const port = {
    heapBytes: () => state.heapBytes,
    busyShare: () => state.busyShare,
    collect: (compacts: boolean) => {
      state.collections++;
      state.compacted.push(compacts);
      state.heapBytes = 20 * MB;
    },
  };
  return { state, stop: collectWhenIdle(port, light) };
}

test('an idle thread collects garbage once until its heap has grown', () => {
  const { state, stop } = thread();
  vi.advanceTimersByTime(5 * CHECK_MS);
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

test('a busy thread collects garbage after six idle checks in a row', () => {
  const { state, stop } = thread();
  const check = (busyShare: number): number => {
    state.busyShare = busyShare;
    vi.advanceTimersByTime(CHECK_MS);
    return state.collections;
  };
  const idle = (checks: number): number[] => Array.from({ length: checks }, () => 0.01);
  expect([0.2, ...idle(5), 0.2, ...idle(6)].map(check)).toEqual([...Array.from({ length: 12 }, () => 0), 1]);
  stop();
});

test('a lightly loaded thread collects garbage soon, and whenever its small heap has grown', () => {
  const light = { firstCheckMs: 1000, share: 0.25, maxHeapBytes: 60 * MB, worthBytes: 2 * MB };
  const { state, stop } = thread(light);
  state.busyShare = 0.2;
  vi.advanceTimersByTime(999);
  expect(state.collections).toBe(0);
  vi.advanceTimersByTime(1);
  expect(state.collections).toBe(1);
  const check = (heapMb: number, busyShare = 0.2): number => {
    Object.assign(state, { heapBytes: heapMb * MB, busyShare });
    vi.advanceTimersByTime(CHECK_MS);
    return state.collections;
  };
  // Pages that were returned after the collection count as growth when they are taken again.
  expect([21, 18, 20, 21.9, 22].map((heapMb) => check(heapMb))).toEqual([1, 1, 2, 2, 3]);
  expect([check(50, 0.26), check(61), check(60)]).toEqual([3, 3, 4]);
  stop();
});

test('a collection under load does not replace the one of an idle thread', () => {
  const { state, stop } = thread({ firstCheckMs: 1, share: 0.25, maxHeapBytes: 60 * MB, worthBytes: 9 * MB });
  vi.advanceTimersByTime(1);
  expect(state.collections).toBe(1);
  vi.advanceTimersByTime(10 * CHECK_MS);
  expect(state.collections).toBe(2);
  stop();
});

test('only the first collection of a lightly loaded thread, and those while it is idle, compact a small heap', () => {
  const light = { firstCheckMs: 1, share: 0.25, maxHeapBytes: 60 * MB, worthBytes: 2 * MB };
  const { state, stop } = thread(light);
  state.busyShare = 0.2;
  vi.advanceTimersByTime(1);
  state.heapBytes = 50 * MB;
  vi.advanceTimersByTime(CHECK_MS);
  state.busyShare = 0;
  vi.advanceTimersByTime(10 * CHECK_MS);
  state.heapBytes = 61 * MB;
  vi.advanceTimersByTime(CHECK_MS);
  stop();
  expect(state.compacted).toEqual([true, false, true, false]);
  const other = thread();
  vi.advanceTimersByTime(10 * CHECK_MS);
  other.stop();
  expect(other.state.compacted).toEqual([false]);
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
  port.collect(false);
  expect(garbage.deref()).toBe(undefined);
  expect(port.heapBytes()).toBeGreaterThan(MB);
  expect(port.busyShare()).toBeLessThanOrEqual(1);
});

test('a compacting collection returns the pages between the objects that remain', () => {
  const port = threadPort();
  let objects = Array.from({ length: 300_000 }, (_, n) => ({ n, text: `text ${n}` }));
  port.collect(false);
  objects = objects.filter(({ n }) => n % 3 === 0);
  port.collect(false);
  const before = port.heapBytes();
  port.collect(true);
  expect(before - port.heapBytes()).toBeGreaterThan(5 * MB);
  expect(objects).toHaveLength(100_000);
});
