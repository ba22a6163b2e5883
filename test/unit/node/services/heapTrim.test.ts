import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HeapTrim } from '../../../../src/node/watch/heapTrim.js';
import { touchedBytes } from '../../../../src/node/services/memoryService.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MIB = 1 << 20;
const LOOK_MS = 30_000;

it('trims if much memory became free since the last trim', async () => {
  const heap = { free: 2 * MIB, trims: 0 };
  const trim = new HeapTrim({
    heapUsage: () => ({ usedBytes: 1, freeBytes: heap.free, mappedBytes: 0 }),
    trimHeap: () => Promise.resolve(++heap.trims > 0),
  });
  const trimsAt = async (freeMib: number): Promise<number> => {
    heap.free = freeMib * MIB;
    await vi.advanceTimersByTimeAsync(LOOK_MS);
    return heap.trims;
  };
  expect(await trimsAt(7)).toBe(0);
  expect(await trimsAt(9)).toBe(1);
  // The C library still counts returned pages as free, so they must not be trimmed again.
  expect(await trimsAt(9)).toBe(1);
  expect(await trimsAt(16)).toBe(1);
  expect(await trimsAt(17)).toBe(2);
  // Memory was allocated and freed again, so it is trimmed again.
  expect(await trimsAt(3)).toBe(2);
  expect(await trimsAt(11)).toBe(3);
  await trim.stop();
  expect(await trimsAt(90)).toBe(3);
});

it('stops checking if the C library does not report the free memory', async () => {
  let looks = 0;
  const trim = new HeapTrim({
    heapUsage: () => (looks++, null),
    trimHeap: () => Promise.reject(new Error('not to be called')),
  });
  await vi.advanceTimersByTimeAsync(5 * LOOK_MS);
  expect(looks).toBe(1);
  await trim.stop();
});

it('counts the written pages of the signature cache', () => {
  expect(touchedBytes({ maxBytes: 0, insertions: 0 })).toBe(0);
  expect(touchedBytes({ maxBytes: MIB, insertions: 0 })).toBe(0);
  expect(touchedBytes({ maxBytes: MIB, insertions: 1 })).toBeCloseTo(4096, -2);
  expect(touchedBytes({ maxBytes: MIB, insertions: 1e6 })).toBe(MIB);
});
