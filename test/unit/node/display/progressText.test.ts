import { describe, expect, it } from 'vitest';
import { ProgressPace } from '../../../../src/node/display/progressPace.js';
import { formatDuration, progressLine, progressStatus } from '../../../../src/node/display/progressText.js';

const progress = {
  activity: 'Importing bootstrap.dat',
  done: 250,
  total: 1000,
  height: 123_456,
  timeSec: 1_500_000_000,
  txCount: 5_000_000,
};
const figures = { progress, txPerSec: 1234.4, leftSec: 7000 };

describe('progress as text', () => {
  it('is complete in the log', () => {
    expect(progressLine(figures, 'cache 3 MiB')).toBe(
      'Importing bootstrap.dat: height 123456, 2017-07-14 02:40, 25.0 %, 1234 tx/s, cache 3 MiB, 117 min left',
    );
  });

  it('omits unknown values', () => {
    const early = { ...progress, height: -1, timeSec: 0, total: 0 };
    expect(progressLine({ progress: early, txPerSec: null, leftSec: null }, 'cache 0 MiB')).toBe(
      'Importing bootstrap.dat: cache 0 MiB',
    );
  });

  it('omits the least important parts on a terminal', () => {
    expect([90, 80, 60, 50, 40, 30].map((columns) => progressStatus(figures, columns))).toEqual([
      'Importing bootstrap.dat  25.0 %  height 123456  2017-07-14 02:40  1234 tx/s  117 min left',
      'Importing  25.0 %  height 123456  2017-07-14  1234 tx/s  117 min left',
      'Importing  25.0 %  height 123456  2017-07-14  117 min left',
      'Importing  25.0 %  height 123456  2017-07-14',
      'Importing  25.0 %  height 123456',
      'Importing  25.0 %',
    ]);
  });

  it('shows durations in a suitable unit', () => {
    expect([0.4, 119, 121, 7199, 7300, 200_000].map(formatDuration)).toEqual([
      '0 s',
      '119 s',
      '2 min',
      '120 min',
      '2.0 h',
      '2 days',
    ]);
  });
});

describe('the speed', () => {
  const sample = (done: number, txCount: number) => ({ done, total: 1000, txCount });

  it('is unknown at first, and the remaining time without progress', () => {
    const pace = new ProgressPace();
    expect([pace.txPerSec, pace.leftSec]).toEqual([null, null]);
    pace.add(0, sample(900, 50));
    expect([pace.txPerSec, pace.leftSec]).toEqual([null, null]);
    pace.add(2000, sample(900, 50));
    expect([pace.txPerSec, pace.leftSec]).toEqual([0, null]);
  });

  it('estimates the remaining time from this run, not from earlier ones', () => {
    const pace = new ProgressPace();
    pace.add(0, sample(900, 0));
    pace.add(300, sample(901, 10));
    pace.add(10_000, sample(910, 1000));
    expect([pace.txPerSec, pace.leftSec]).toEqual([100, 90]);
  });

  it('is that of the last minute', () => {
    const pace = new ProgressPace();
    for (let sec = 0; sec <= 100; sec++) pace.add(sec * 1000, sample(sec, sec * 1000));
    for (let sec = 101; sec <= 200; sec++) pace.add(sec * 1000, sample(sec * 3, 100_000 + (sec - 100) * 10));
    expect(pace.txPerSec).toBe(10);
    expect(pace.leftSec).toBeCloseTo(400 / 3);
  });
});
