import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { growWhileBusy } from '../../../../src/daemon/base/newSpace.js';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it('lets the new space grow only while the process is busy for more than a moment', () => {
  const factors: number[] = [];
  let share = 0.1;
  const timer = growWhileBusy({ busyShare: () => share, setGrowthFactor: (factor) => factors.push(factor) });
  for (const next of [0.1, 0.9, 0.1, 0.9, 0.9, 0.9, 0.2]) {
    share = next;
    vi.advanceTimersToNextTimer();
  }
  clearInterval(timer);
  expect(factors).toEqual([1, 1, 1, 1, 2, 2, 1]);
});
