import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { NewSpace } from '../../../../src/daemon/base/newSpace.js';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function setUp() {
  const factors: number[] = [];
  const load = { share: 0.1 };
  const space = new NewSpace({
    busyShare: () => load.share,
    setGrowthFactor: (factor) => factors.push(factor),
  });
  const check = (): void => void vi.advanceTimersToNextTimer();
  return { factors, load, space, check };
}

it('lets the new space grow only while the process is busy for more than a moment', () => {
  const { factors, load, space, check } = setUp();
  space.endStart();
  for (const next of [0.1, 0.9, 0.1, 0.9, 0.9, 0.9, 0.2]) {
    load.share = next;
    check();
  }
  space.close();
  expect(factors).toEqual([1, 1, 1, 1, 1, 2, 2, 1]);
});

it('lets the new space grow at once when the API gives large answers, until it gives none for a second', () => {
  const { factors, space, check } = setUp();
  space.endStart();
  // A client that asks for small answers.
  for (let i = 0; i < 300; i++) space.noteAnswer(7000);
  check();
  expect(factors).toEqual([1, 1]);
  // A burst of searches.
  for (let i = 0; i < 5; i++) space.noteAnswer(60_000);
  expect(factors).toEqual([1, 1, 2]);
  check();
  expect(factors.at(-1)).toBe(2);
  check();
  expect(factors.at(-1)).toBe(1);
  space.close();
});

it('ends the start after three seconds, or earlier', () => {
  const { factors, load, space, check } = setUp();
  load.share = 1;
  vi.advanceTimersByTime(2999);
  expect(factors).toEqual([1]);
  vi.advanceTimersByTime(1);
  check();
  check();
  // The end of the start is announced again, later.
  space.endStart();
  check();
  expect(factors).toEqual([1, 1, 2, 2]);
  space.close();
  expect(vi.getTimerCount()).toBe(0);
});
