import { expect, it } from 'vitest';
import { trendingAfter } from '../../../../src/search/document/trending.js';

const LBC = 100_000_000n;

it('returns the scores of the reference’s own test', () => {
  // Source: lbryio/hub tests/test_resolve_command.py `test_trending`; the first was computed from the formulas.
  const changes: readonly [height: number, former: bigint, latter: bigint, score: number][] = [
    [207, 0n, 1n, 0.8888923460403997],
    [208, 0n, 10n, 1.7090807854206793],
    [209, 10n, 100n, 2.2437974397778886],
    [309, 100n, 1_000_000n, 5.157053472135866],
    [409, 1_000_000n, 1n, -3.4256156592205627],
  ];
  let score: number | null = null;
  for (const [height, former, latter, expected] of changes) {
    score = trendingAfter(score, height, former * LBC, latter * LBC);
    expect(Math.abs(score - expected)).toBeLessThan(1e-9);
  }
});

it('does not change if the amount does not', () => {
  expect(trendingAfter(1.25, 1_500_000, 7n, 7n)).toBe(1.25);
  expect(trendingAfter(null, 1_500_000, 7n, 7n)).toBe(0);
});

it('stays finite at heights at which the weights overflow', () => {
  let score = trendingAfter(null, 1_600_000, 0n, 10_000n * LBC);
  expect(score).toBeGreaterThan(2000);
  score = trendingAfter(score, 1_600_001, 10_000n * LBC, 1n);
  expect(Number.isFinite(score)).toBe(true);
});
