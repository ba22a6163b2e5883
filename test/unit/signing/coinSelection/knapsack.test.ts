import { describe, expect, it } from 'vitest';
import { knapsack, MIN_CHANGE_SAT } from '../../../../src/signing/coinSelection/knapsack.js';
import { FastChance, shuffle } from '../../../../src/signing/coinSelection/random.js';
import { randomOf } from '../../../support/claimLife.js';

const CENT = 1_000_000n;
const chance = new FastChance(Buffer.from('a seed of sixteen'));

/** The values, in cents, that are selected. */
function taken(values: readonly number[], target: number): number[] | null {
  const groups = values.map((value) => ({ valueSat: BigInt(Math.round(value * 1e6)) }));
  const found = knapsack(BigInt(Math.round(target * 1e6)), groups, chance);
  return found?.map(({ valueSat }) => Number(valueSat) / 1e6).sort((a, b) => a - b) ?? null;
}

describe('knapsack', () => {
  it.each([
    { values: [], target: 1, found: null },
    { values: [1, 2], target: 4, found: null },
    { values: [1, 2, 5, 10, 20], target: 38, found: [1, 2, 5, 10, 20] },
    { values: [1, 2, 5, 10, 20], target: 34, found: [5, 10, 20] },
    { values: [1, 2, 5, 10, 20], target: 7, found: [2, 5] },
    { values: [1, 2, 5, 10, 20], target: 8, found: [1, 2, 5] },
    { values: [1, 2, 5, 10, 20], target: 9, found: [10] },
    { values: [6, 7, 8, 20, 30], target: 71, found: [6, 7, 8, 20, 30] },
    { values: [6, 7, 8, 20, 30], target: 72, found: null },
    { values: [6, 7, 8, 20, 30], target: 16, found: [20] },
    { values: [5, 6, 7, 8, 20, 30], target: 16, found: [5, 6, 7] },
    { values: [5, 6, 7, 8, 18, 20, 30], target: 11, found: [5, 6] },
    { values: [100, 200, 300], target: 95, found: [100] },
    { values: [100, 200, 300], target: 195, found: [200] },
  ])('selects $found from $values for the target $target', ({ values, target, found }) => {
    for (let turn = 0; turn < 20; turn++) expect(taken(values, target)).toEqual(found);
  });

  it('leaves change above the dust limit if possible', () => {
    // Half of them make exactly one cent; any more than that would be change below a cent.
    const small = [0.1, 0.2, 0.3, 0.4, 0.5].map((part) => part);
    expect(taken(small, 1)!.reduce((sum, value) => sum + value)).toBeCloseTo(1);
    expect(taken([...small, 1111], 1)!.reduce((sum, value) => sum + value)).toBeCloseTo(1);
    expect(taken([0.6, 0.7, 1111], 1)).toEqual([1111]);
  });

  it('reaches the target, with change of at least one cent if there are enough coins', () => {
    const random = randomOf(3);
    for (let turn = 0; turn < 200; turn++) {
      const groups = Array.from({ length: 1 + random(30) }, () => ({
        valueSat: BigInt(1 + random(20_000_000)),
      }));
      const total = groups.reduce((sum, { valueSat }) => sum + valueSat, 0n);
      const target = BigInt(1 + random(60_000_000));
      const found = knapsack(target, groups, chance);
      if (total < target) {
        expect(found).toBeNull();
        continue;
      }
      const sum = found!.reduce((sofar, { valueSat }) => sofar + valueSat, 0n);
      expect(sum).toBeGreaterThanOrEqual(target);
      expect(new Set(found).size).toBe(found!.length);
      if (total >= target + MIN_CHANGE_SAT && sum !== target) {
        expect(sum).toBeGreaterThanOrEqual(target + MIN_CHANGE_SAT);
      }
    }
  });

  it('reaches targets whose sums exceed the exact range of doubles', () => {
    const groups = Array.from({ length: 40 }, (_, i) => ({ valueSat: 1_000_000_000_000_003n + BigInt(i) }));
    const target = 30_500_000_000_000_001n;
    const sum = knapsack(target, groups, chance)!.reduce((sofar, { valueSat }) => sofar + valueSat, 0n);
    expect(sum).toBeGreaterThanOrEqual(target);
    expect(sum).toBeLessThan(target + 2_000_000_000_000_000n);
  });

  it('varies the choice among coins of equal amount', () => {
    const groups = Array.from({ length: 100 }, (_, i) => ({ valueSat: CENT, i }));
    const seen = new Set<string>();
    for (let turn = 0; turn < 10; turn++) {
      const found = knapsack(50n * CENT, groups, chance)!;
      expect(found).toHaveLength(50);
      seen.add(
        found
          .map(({ i }) => i)
          .sort((a, b) => a - b)
          .join(),
      );
    }
    expect(seen.size).toBe(10);
  });
});

describe('FastChance', () => {
  it('returns each number below a bound about equally often, and true in half of the calls', () => {
    const counts = new Array<number>(7).fill(0);
    let heads = 0;
    for (let turn = 0; turn < 70_000; turn++) {
      counts[chance.below(7)]!++;
      if (chance.flip()) heads++;
    }
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500);
    expect(Math.abs(heads - 35_000)).toBeLessThan(1000);
  });

  it('shuffles without losing elements', () => {
    const items = Array.from({ length: 50 }, (_, i) => i);
    const mixed = shuffle([...items], chance);
    expect(mixed).not.toEqual(items);
    expect(mixed.sort((a, b) => a - b)).toEqual(items);
  });
});
