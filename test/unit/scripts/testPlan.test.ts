/** The choice and the order of test files in CI. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  LEAST_RECORDED_SECONDS,
  endsInTime,
  longFiles,
  longestFirst,
  recordedTimes,
  secondsOf,
  shareOf,
  slownessOf,
} from '../../../scripts/testPlan.mjs';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TIMES = { 'a.long.test.ts': 300, 'b.long.test.ts': 200, 'c.long.test.ts': 100, 'd.test.ts': 20 };

describe('shares', () => {
  it('contain each file once and take about the same time', () => {
    const files = longFiles(ROOT);
    const times = recordedTimes();
    const parts = [1, 2, 3, 4, 5, 6].map((share) => shareOf(files, times, { share, shares: 6 }));
    expect(parts.flat().sort()).toEqual([...files].sort());
    const seconds = parts.map((part) => part.reduce((sum, file) => sum + secondsOf(file, times), 0));
    const longest = Math.max(...files.map((file) => secondsOf(file, times)));
    expect(Math.max(...seconds) - Math.min(...seconds)).toBeLessThanOrEqual(longest);
  });

  it('begin with the longest files', () => {
    const files = [...Object.keys(TIMES), 'e.long.test.ts', 'f.test.ts'];
    expect(longestFirst(files.reverse(), TIMES)).toEqual([
      'a.long.test.ts',
      'b.long.test.ts',
      'e.long.test.ts',
      'c.long.test.ts',
      'd.test.ts',
      'f.test.ts',
    ]);
    expect(shareOf(Object.keys(TIMES), TIMES, { share: 1, shares: 2 })).toEqual([
      'a.long.test.ts',
      'd.test.ts',
    ]);
  });
});

describe('the end', () => {
  it('is met by files with enough time, on a machine as slow as measured', () => {
    const at = { nowSec: 1000, untilSec: 1300 };
    expect(endsInTime('a.long.test.ts', TIMES, { ...at, slowness: 1 })).toBe(true);
    expect(endsInTime('a.long.test.ts', TIMES, { ...at, slowness: 1.1 })).toBe(false);
    expect(endsInTime('c.long.test.ts', TIMES, { ...at, slowness: 3 })).toBe(true);
    expect(endsInTime('f.test.ts', TIMES, { ...at, untilSec: 1000, slowness: 1 })).toBe(false);
  });

  it('uses the median of the recorded files for the machine, at least 1', () => {
    const measured = {
      'a.long.test.ts': 900,
      'c.long.test.ts': 200,
      'd.test.ts': 20,
      'unknown.test.ts': 500,
    };
    expect(slownessOf(measured, TIMES, 1000)).toBe(2);
    expect(slownessOf({ 'a.long.test.ts': 100 }, TIMES, 60)).toBe(1);
    expect(slownessOf({}, TIMES, 60)).toBe(1);
  });

  it('counts a machine as slower if the tests got fewer processors', () => {
    const measured = { 'a.long.test.ts': 300, 'unknown.test.ts': 300 };
    expect(slownessOf(measured, TIMES, 500)).toBe(1);
    expect(slownessOf(measured, TIMES, 1000)).toBe(2);
    expect(slownessOf({ 'a.long.test.ts': 600 }, TIMES, 1000)).toBe(4);
  });
});

it('the recorded times are of existing files, sorted', () => {
  const times = recordedTimes();
  const names = Object.keys(times);
  expect(names.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  expect(names).toEqual([...names].sort());
  for (const [name, seconds] of Object.entries(times))
    expect(seconds, name).toBeGreaterThanOrEqual(LEAST_RECORDED_SECONDS);
});
