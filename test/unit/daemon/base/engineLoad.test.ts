import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { OptimizingTime } from '../../../../src/util/optimizing.js';
import { EngineLoad } from '../../../../src/daemon/base/engineLoad.js';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function setUp() {
  const factors: number[] = [];
  const times: OptimizingTime[] = [];
  const load = { share: 0.1, unmapped: 0 };
  const space = new EngineLoad({
    busyShare: () => load.share,
    setGrowthFactor: (factor) => factors.push(factor),
    setOptimizing: (time) => times.push(time),
    unmapIdleCode: () => void load.unmapped++,
  });
  const check = (): void => void vi.advanceTimersToNextTimer();
  return { factors, times, load, space, check };
}

it('lets the new space grow, and V8 optimize soon, only while the process is busy for more than a moment', () => {
  const { factors, times, load, space, check } = setUp();
  space.endStart();
  for (const next of [0.1, 0.9, 0.1, 0.9, 0.9, 0.9, 0.2]) {
    load.share = next;
    check();
  }
  space.close();
  expect(factors).toEqual([1, 1, 1, 1, 1, 2, 2, 1]);
  expect(times).toEqual(['late', 'late', 'late', 'late', 'late', 'soon', 'soon', 'late']);
});

it('unmaps code at each check of a process that is not busy', () => {
  const { load, space, check } = setUp();
  check();
  expect(load.unmapped).toBe(0);
  space.endStart();
  const after = [0.1, 0.2, 0.9, 0.9, 0.2].map((next) => {
    load.share = next;
    check();
    return load.unmapped;
  });
  expect(after).toEqual([1, 2, 2, 2, 3]);
  for (let i = 0; i < 5; i++) space.noteAnswer(60_000);
  check();
  expect(load.unmapped).toBe(3);
  space.close();
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
  const { factors, times, load, space, check } = setUp();
  load.share = 1;
  vi.advanceTimersByTime(2999);
  // New threads change the factor, so it is set repeatedly.
  expect(factors).toEqual(Array(60).fill(1));
  expect(times).toEqual(['late']);
  vi.advanceTimersByTime(1);
  const start = factors.length;
  check();
  check();
  // The end of the start is announced again, later.
  space.endStart();
  check();
  expect(factors.slice(start)).toEqual([1, 2, 2]);
  space.close();
  expect(vi.getTimerCount()).toBe(0);
});
