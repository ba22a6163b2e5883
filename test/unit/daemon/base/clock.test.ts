import { describe, expect, it } from 'vitest';
import { atMost, sleep, systemClock } from '../../../../src/daemon/base/clock.js';
import { FakeClock } from '../../../support/fakeClock.js';

describe('Clock', () => {
  it('of the system returns Unix seconds and monotonic milliseconds', () => {
    expect(Math.abs(systemClock.nowSec() - Date.now() / 1000)).toBeLessThan(2);
    const [first, second] = [systemClock.nowMs(), systemClock.nowMs()];
    expect(second).toBeGreaterThanOrEqual(first);
  });

  it('of the system runs a task later, and no cancelled one', async () => {
    const ran: string[] = [];
    systemClock.after(0, () => ran.push('cancelled')).cancel();
    await new Promise<void>((resolve) => {
      systemClock.after(1, () => {
        ran.push('run');
        resolve();
      });
    });
    expect(ran).toEqual(['run']);
  });

  it('of the system does not run a task with a very long delay at once', async () => {
    const ran: string[] = [];
    const timer = systemClock.after(1e14, () => ran.push('too early'));
    // Timers of equal delays run in order, so a timer with a wrong delay would have run before this one.
    await new Promise<void>((resolve) => {
      systemClock.after(1, resolve);
    });
    timer.cancel();
    expect(ran).toEqual([]);
  });

  it('of tests runs tasks in the order of their times, and tasks that they start', async () => {
    const clock = new FakeClock(100);
    const ran: [string, number][] = [];
    const note = (name: string) => (): void => void ran.push([name, clock.nowMs()]);
    clock.after(20, note('second'));
    clock.after(10, () => {
      note('first')();
      clock.after(5, note('begun by the first'));
    });
    clock.after(20, note('third'));
    clock.after(31, note('too late'));
    clock.after(12, note('cancelled')).cancel();
    await clock.advance(30);
    expect(ran).toEqual([
      ['first', 10],
      ['begun by the first', 15],
      ['second', 20],
      ['third', 20],
    ]);
    expect(clock.nowMs()).toBe(30);
    await clock.advance(970);
    expect(clock.nowSec()).toBe(101);
  });
});

describe('sleep', () => {
  it('resolves to true when the time has passed and to false when it is aborted', async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const passed = sleep(clock, 50, stop.signal);
    const aborted = sleep(clock, 5000, stop.signal);
    expect(await clock.until(passed)).toBe(true);
    stop.abort();
    expect(await clock.until(aborted)).toBe(false);
    expect(clock.nowMs()).toBe(50);
    expect(await sleep(clock, 1, stop.signal)).toBe(false);
  });
});

describe('atMost', () => {
  it('ends with the promise or when the time has passed', async () => {
    const clock = new FakeClock();
    await clock.until(atMost(clock, 100, Promise.resolve()));
    expect(clock.nowMs()).toBe(0);
    await clock.until(atMost(clock, 100, new Promise(() => undefined)));
    expect(clock.nowMs()).toBe(100);
    await expect(atMost(clock, 100, Promise.reject(new Error('no')))).rejects.toThrow('no');
  });
});
