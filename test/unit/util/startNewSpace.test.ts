/** The new space of V8 keeps its size during a start, for a limited time. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keepNewSpaceDuringStart } from '../../../src/util/memory/startNewSpace.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('may grow again at the end of the start', () => {
  const set = vi.fn();
  const end = keepNewSpaceDuringStart(set);
  expect(set.mock.calls).toEqual([[1]]);
  end();
  expect(set.mock.calls).toEqual([[1], [2]]);
  vi.advanceTimersByTime(10_000);
  expect(set).toHaveBeenCalledTimes(2);
});

it('may grow again after three seconds of a longer start', () => {
  const set = vi.fn();
  keepNewSpaceDuringStart(set);
  vi.advanceTimersByTime(2_999);
  expect(set).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1);
  expect(set).toHaveBeenLastCalledWith(2);
});
