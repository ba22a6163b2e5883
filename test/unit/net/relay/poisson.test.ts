import { describe, expect, it } from 'vitest';
import { poissonNextMs, SharedTimer } from '../../../../src/net/relay/poisson.js';
import { seededRandom } from './support.js';

describe('random times', () => {
  it('have the mean and the distribution of a Poisson process', () => {
    const random = seededRandom(3);
    const waits = Array.from({ length: 20_000 }, () => poissonNextMs(1_000_000, 5000, random) - 1_000_000);
    const mean = waits.reduce((sum, wait) => sum + wait, 0) / waits.length;
    expect(mean).toBeGreaterThan(4850);
    expect(mean).toBeLessThan(5150);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(0);
    // In an exponential distribution, a fraction of 1 / e is longer than the mean.
    const longer = waits.filter((wait) => wait > 5000).length / waits.length;
    expect(longer).toBeGreaterThan(0.35);
    expect(longer).toBeLessThan(0.385);
  });

  it('have limits for extreme values', () => {
    const fixed = (u64: bigint): number =>
      poissonNextMs(10, 1000, { int: () => 0, u64: () => u64, bytes: (count) => Buffer.alloc(count) });
    expect(fixed(0n)).toBe(10);
    expect(fixed(2n ** 64n - 1n)).toBeCloseTo(10 + 1000 * 48 * Math.LN2, 6);
  });

  it('are equal for all users of a shared timer', () => {
    const timer = new SharedTimer(seededRandom(5));
    const next = timer.next(1000, 5000);
    expect(timer.next(1000, 5000)).toBe(next);
    expect(timer.next(next, 5000)).toBe(next);
    expect(timer.next(next + 1, 5000)).toBeGreaterThan(next);
  });
});
