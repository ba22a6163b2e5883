import { describe, expect, it } from 'vitest';
import { SLICE_MS } from '../../../src/util/slices.js';
import { JobSlices } from '../../../src/scheduler/jobSlices.js';

/** Slices of a process with a clock of its own. `due` starts the slices that are waited for. */
function makeProcess() {
  const clock = { ms: 0 };
  const waiting: (() => void)[] = [];
  const wait = () => new Promise<number>((resolve) => waiting.push(() => resolve(clock.ms)));
  return {
    clock,
    waiting,
    slices: {
      yieldIfDue: (sinceMs: number) => (clock.ms - sinceMs < SLICE_MS ? sinceMs : wait()),
      next: wait,
    },
  };
}

/** Lets promises that are already resolved continue. */
async function settle() {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

describe('JobSlices', () => {
  it('continues within a slice, and waits for the next one at its end', async () => {
    const { clock, waiting, slices } = makeProcess();
    const job = new JobSlices(() => null, 0, slices);
    clock.ms = SLICE_MS - 1;
    expect(job.pauseIfDue()).toBeNull();
    clock.ms = SLICE_MS;
    const pause = job.pauseIfDue();
    expect(pause).not.toBeNull();
    clock.ms += 100;
    waiting.shift()!();
    await pause;
    expect(job.pauseIfDue()).toBeNull();
    clock.ms += SLICE_MS;
    expect(job.pauseIfDue()).not.toBeNull();
  });

  it('gets a whole slice after other jobs have used the one that it passed on', async () => {
    const { clock, waiting, slices } = makeProcess();
    let comeBack = (): void => undefined;
    const job = new JobSlices(() => new Promise((resolve) => (comeBack = resolve)), 0, slices);
    clock.ms = SLICE_MS;
    let isOver = false;
    const pause = job.pauseIfDue()!.then(() => (isOver = true));
    waiting.shift()!();
    await settle();
    expect([isOver, waiting.length]).toEqual([false, 0]);
    // Other jobs have the turn for ten slices.
    clock.ms += 10 * SLICE_MS;
    comeBack();
    await settle();
    expect([isOver, waiting.length]).toEqual([false, 1]);
    clock.ms += 1;
    waiting.shift()!();
    await pause;
    for (const ms of [0, SLICE_MS - 1]) {
      clock.ms += ms;
      expect(job.pauseIfDue()).toBeNull();
    }
    clock.ms += 1;
    expect(job.pauseIfDue()).not.toBeNull();
  });

  it('starts a slice when the job gets a turn after a wait', () => {
    const { clock, slices } = makeProcess();
    const job = new JobSlices(() => null, 0, slices);
    clock.ms = 5 * SLICE_MS;
    job.restart(clock.ms);
    expect(job.pauseIfDue()).toBeNull();
  });
});
