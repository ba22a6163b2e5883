import { describe, expect, it } from 'vitest';
import { COIN } from '../../../src/consensus/limits.js';
import { blockSubsidy } from '../../../src/consensus/subsidy.js';

const LEVEL = 32;

describe('blockSubsidy', () => {
  it.each([
    [0, 400_000_000],
    [1, 1],
    [5100, 1],
    [5101, 2],
    [5200, 2],
    [5201, 3],
    [54_900, 499],
    [54_901, 500],
    [55_000, 500],
    [55_001, 500],
    [55_032, 500],
    [55_033, 499],
    [55_096, 499],
    [55_097, 498],
    [55_192, 498],
    [55_193, 497],
  ])('at %i is %i coins', (height, coins) => {
    expect(blockSubsidy(height, LEVEL)).toBe(BigInt(coins) * COIN);
  });

  it('loses a coin exactly at the triangular levels, and ends at zero', () => {
    for (let reduction = 1; reduction <= 500; reduction++) {
      const height = ((reduction * (reduction + 1)) / 2) * LEVEL + 55_001;
      expect(blockSubsidy(height - 1, LEVEL)).toBe(BigInt(501 - reduction) * COIN);
      expect(blockSubsidy(height, LEVEL)).toBe(BigInt(500 - reduction) * COIN);
    }
    expect(blockSubsidy(4_063_001, LEVEL)).toBe(0n);
    expect(blockSubsidy(0x7fffffff, LEVEL)).toBe(0n);
  });

  it('sums to the known supply', () => {
    // 400,000,000 + 5,100 + the rising half + the falling half with its levels of 32 blocks.
    let sum = 0n;
    for (let height = 0; height < 4_063_001; height++) sum += blockSubsidy(height, LEVEL);
    let expected = 400_000_000n + 5_100n;
    for (let step = 2n; step <= 500n; step++) expected += step * 100n;
    for (let reduction = 0n; reduction < 500n; reduction++)
      expected += (500n - reduction) * 32n * (reduction + 1n);
    expect(sum).toBe(expected * COIN);
  });
});
