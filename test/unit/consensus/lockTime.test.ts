import { describe, expect, it } from 'vitest';
import {
  calculateSequenceLocks,
  isFinalTransaction,
  sequenceLocksOpen,
  versionHasSequenceLocks,
} from '../../../src/consensus/lockTime.js';

const FINAL = 0xffffffff;
const tx = (lockTime: number, ...sequences: number[]) => ({
  version: 2,
  lockTime,
  inputs: sequences.map((sequence) => ({ sequence })),
});

describe('isFinalTransaction', () => {
  it.each([
    [0, 5, 5, true],
    [5, 5, 0, false],
    [4, 5, 0, true],
    [499_999_999, 499_999_999, 0xffffffff, false],
    [500_000_000, 1, 500_000_000, false],
    [500_000_000, 1, 500_000_001, true],
    [0xffffffff, 1, 0xffffffff, false],
  ])('lock %i at height %i and time %i', (lockTime, height, timeSec, final) => {
    expect(isFinalTransaction(tx(lockTime, 0), height, timeSec)).toBe(final);
    // The lock time has no effect if all inputs have the final sequence.
    expect(isFinalTransaction(tx(lockTime, FINAL, FINAL), height, timeSec)).toBe(true);
    expect(isFinalTransaction(tx(lockTime, FINAL, FINAL - 1), height, timeSec)).toBe(final);
  });
});

describe('sequence locks', () => {
  const medianTimeAt = (height: number): number => 1_000_000 + height * 100;
  const TIME = 1 << 22;
  const OFF = 0x80000000;

  it('count blocks from the coin; the latest decides', () => {
    expect(calculateSequenceLocks(tx(0, 10, 3), [100, 105], medianTimeAt)).toEqual({
      minHeight: 109,
      minTimeSec: -1,
    });
    expect(calculateSequenceLocks(tx(0, 0xffff | 0x10000), [1], medianTimeAt).minHeight).toBe(65_535);
  });

  it('count units of 512 seconds from the median time before the coin', () => {
    expect(calculateSequenceLocks(tx(0, TIME | 2), [100], medianTimeAt)).toEqual({
      minHeight: -1,
      minTimeSec: 1_009_900 + 1024 - 1,
    });
    expect(calculateSequenceLocks(tx(0, TIME), [0], medianTimeAt).minTimeSec).toBe(999_999);
  });

  it('ignore inputs with the highest bit, and old versions', () => {
    expect(calculateSequenceLocks(tx(0, OFF | 10, FINAL), [100, 100], medianTimeAt)).toEqual({
      minHeight: -1,
      minTimeSec: -1,
    });
    const old = { ...tx(0, 10), version: 1 };
    expect(calculateSequenceLocks(old, [100], medianTimeAt).minHeight).toBe(-1);
    expect([0, 1, 2, -1, -0x80000000].map(versionHasSequenceLocks)).toEqual([false, false, true, true, true]);
  });

  it('open after the last locked height and time', () => {
    expect(sequenceLocksOpen({ minHeight: 109, minTimeSec: -1 }, 109, 0)).toBe(false);
    expect(sequenceLocksOpen({ minHeight: 109, minTimeSec: -1 }, 110, 0)).toBe(true);
    expect(sequenceLocksOpen({ minHeight: -1, minTimeSec: 500 }, 1, 500)).toBe(false);
    expect(sequenceLocksOpen({ minHeight: -1, minTimeSec: 500 }, 1, 501)).toBe(true);
  });
});
