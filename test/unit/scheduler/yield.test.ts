import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { yieldIfDue } from '../../../src/scheduler/yield.js';

describe('yieldIfDue', () => {
  it('returns synchronously while a slice lasts', () => {
    const since = performance.now();
    expect(yieldIfDue(since, 1e6)).toBe(since);
  });

  it('grants one slice in each iteration of the event loop, in the order of the requests', async () => {
    const COUNT = 20;
    let turns = 0;
    let isOver = false;
    const counting = (async () => {
      for (; !isOver; turns++) await turn();
    })();
    const slices: { job: number; turn: number }[] = [];
    await Promise.all(
      Array.from({ length: COUNT }, async (_, job) => {
        for (let i = 0; i < 2; i++) {
          await yieldIfDue(-Infinity);
          slices.push({ job, turn: turns });
        }
      }),
    );
    isOver = true;
    await counting;
    const jobs = Array.from({ length: COUNT }, (_, job) => job);
    expect(slices.map(({ job }) => job)).toEqual([...jobs, ...jobs]);
    // Each slice runs in its own iteration of the event loop.
    expect(new Set(slices.map((slice) => slice.turn)).size).toBe(slices.length);
  });
});
