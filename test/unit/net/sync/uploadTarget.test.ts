import { describe, expect, it } from 'vitest';
import { UploadTarget } from '../../../../src/net/sync/uploadTarget.js';

const DAY_SEC = 86_400;
/** Reserved bytes: one block for each ten minutes of a day. */
const RESERVED = 144 * 8_000_000;

describe('UploadTarget', () => {
  const make = (targetBytes: number) => {
    const clock = { sec: 1_600_000_000 };
    return { clock, target: new UploadTarget({ targetBytes }, { nowSec: () => clock.sec }) };
  };

  it('is unlimited by default', () => {
    const { target } = make(0);
    target.recordSent(1e12);
    expect(target).toMatchObject({
      isReached: false,
      refusesHistoricalBlocks: false,
      bytesLeft: 0,
      timeLeftSec: 0,
    });
  });

  it('reserves the blocks of the rest of the day', () => {
    const { clock, target } = make(RESERVED + 1000);
    expect(target).toMatchObject({ refusesHistoricalBlocks: false, timeLeftSec: DAY_SEC });
    target.recordSent(999);
    expect(target.refusesHistoricalBlocks).toBe(false);
    target.recordSent(1);
    expect(target.refusesHistoricalBlocks).toBe(true);
    expect(target.isReached).toBe(false);
    // After ten minutes, one block less is reserved.
    clock.sec += 600;
    expect(target.timeLeftSec).toBe(DAY_SEC - 600);
    expect(target.refusesHistoricalBlocks).toBe(false);
  });

  it('refuses history at once if the limit is below the blocks of a day', () => {
    const { target } = make(RESERVED - 1);
    expect(target.refusesHistoricalBlocks).toBe(true);
    expect(target.isReached).toBe(false);
  });

  it('is reached, and starts over after a day', () => {
    const { clock, target } = make(1000);
    target.recordSent(400);
    expect(target.bytesLeft).toBe(600);
    target.recordSent(700);
    expect(target).toMatchObject({ isReached: true, bytesLeft: 0 });
    clock.sec += DAY_SEC;
    target.recordSent(1);
    expect(target.isReached).toBe(true);
    clock.sec += 1;
    target.recordSent(10);
    expect(target).toMatchObject({ isReached: false, bytesLeft: 990, timeLeftSec: DAY_SEC });
  });
});
