import { describe, expect, it } from 'vitest';
import { branchAndBound, type WeighedGroup } from '../../../../src/signing/coinSelection/branchAndBound.js';
import { randomOf } from '../../../support/claimLife.js';

const CENT = 1_000_000n;
const group = (effectiveSat: bigint, feeSat = 0n, longTermFeeSat = 0n): WeighedGroup => ({
  effectiveSat,
  feeSat,
  longTermFeeSat,
});
const cents = (...values: number[]): WeighedGroup[] => values.map((value) => group(BigInt(value) * CENT));
const valuesOf = (groups: readonly WeighedGroup[] | null): number[] | null =>
  groups?.map(({ effectiveSat }) => Number(effectiveSat / CENT)).sort((a, b) => a - b) ?? null;

/** Pairs of values that make the search long: only the combination of all smaller values reaches the target. */
function hardCase(pairs: number): { pool: WeighedGroup[]; target: bigint } {
  const pool: WeighedGroup[] = [];
  let target = 0n;
  for (let i = 0; i < pairs; i++) {
    const value = 1n << BigInt(pairs + i);
    target += value;
    pool.push(group(value), group(value + (1n << BigInt(pairs - 1 - i))));
  }
  return { pool, target };
}

const wasteOf = (groups: readonly WeighedGroup[], target: bigint): bigint =>
  groups.reduce((sum, one) => sum + one.effectiveSat + one.feeSat - one.longTermFeeSat, -target);

describe('branchAndBound', () => {
  it.each([
    { pool: [], target: 1, tolerance: 0.5, found: null },
    { pool: [1, 2, 3, 4], target: 1, tolerance: 0.5, found: [1] },
    { pool: [1, 2, 3, 4], target: 2, tolerance: 0.5, found: [2] },
    { pool: [1, 2, 3, 4], target: 5, tolerance: 0.5, found: [2, 3] },
    { pool: [1, 2, 3, 4], target: 11, tolerance: 0.5, found: null },
    { pool: [1, 2, 3, 4, 5], target: 10, tolerance: 0.5, found: [1, 2, 3, 4] },
    { pool: [5, 6, 7, 8, 9, 10], target: 1, tolerance: 2, found: null },
  ])('selects $found from $pool for the target $target', ({ pool, target, tolerance, found }) => {
    const toleranceSat = BigInt(tolerance * Number(CENT));
    expect(valuesOf(branchAndBound(cents(...pool), BigInt(target) * CENT, toleranceSat))).toEqual(found);
  });

  it('aborts a search that exceeds the limit of tries', () => {
    const long = hardCase(17);
    expect(branchAndBound(long.pool, long.target, 0n)).toBeNull();
    const short = hardCase(14);
    expect(branchAndBound(short.pool, short.target, 0n)).toHaveLength(14);
  });

  it('skips coins that are equivalent to an excluded one', () => {
    const many = cents(7, 7, 7, 7, 2, ...Array.from({ length: 20_000 }, () => 5));
    expect(valuesOf(branchAndBound(many, 30n * CENT, 5000n))).toEqual([2, 7, 7, 7, 7]);
  });

  it('finds a solution if an exhaustive search does, with the lowest waste', () => {
    const random = randomOf(11);
    let found = 0;
    for (let turn = 0; turn < 300; turn++) {
      // All inputs have the same size, so present and future fees have the same ratio as the fee rates.
      const longTerm = BigInt(random(3) * 40);
      const pool = Array.from({ length: 1 + random(9) }, () => group(BigInt(1 + random(500)), 60n, longTerm));
      const target = BigInt(1 + random(1500));
      const tolerance = BigInt(random(30));
      let least: bigint | null = null;
      for (let set = 1; set < 1 << pool.length; set++) {
        const chosen = pool.filter((_, i) => (set >> i) & 1);
        const sum = chosen.reduce((total, { effectiveSat }) => total + effectiveSat, 0n);
        if (sum < target || sum > target + tolerance) continue;
        // Sets that reach the target without their smallest coin do not count, because the search ends at the target.
        const smallest = chosen.reduce((a, b) => (a.effectiveSat < b.effectiveSat ? a : b)).effectiveSat;
        if (sum - smallest >= target) continue;
        const waste = wasteOf(chosen, target);
        if (least === null || waste < least) least = waste;
      }
      const chosen = branchAndBound(pool, target, tolerance);
      if (least === null) {
        expect(chosen).toBeNull();
        continue;
      }
      found++;
      expect(chosen).not.toBeNull();
      expect(wasteOf(chosen!, target)).toBe(least);
    }
    expect(found).toBeGreaterThan(30);
  });
});
