import { beforeEach, describe, expect, it } from 'vitest';
import { CLOCK_WARNING, TimeOffset } from '../../../src/net/timeOffset.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';
import { at } from './addressBook/support.js';

let warnings: string[];
beforeEach(() => {
  warnings = [];
});

function make(maxAdjustmentSec = 4200): (samples: readonly number[]) => TimeOffset {
  const deps = { log: SILENT_LOGGER, warn: (message: string) => void warnings.push(message) };
  const offset = new TimeOffset({ maxAdjustmentSec }, deps);
  let peer = 0;
  return (samples) => {
    for (const sample of samples) offset.add(at(`1.2.${peer >> 8}.${peer++ & 255}`), sample);
    return offset;
  };
}

// Our own clock is the first sample: after four peers there are five.
describe('the offset of the peers', () => {
  it('is their median from the fourth on, at every second one', () => {
    const feed = make();
    expect(feed([100, 100, 100]).offsetSec).toBe(0);
    expect(feed([100]).offsetSec).toBe(100);
    expect(feed([200]).offsetSec).toBe(100);
    // The samples in order are 0 100 100 100 100 200 300.
    expect(feed([300]).offsetSec).toBe(100);
    expect(feed([300, 300]).offsetSec).toBe(100);
    expect(feed([300, 300]).offsetSec).toBe(200);
    expect(feed([300, 300]).offsetSec).toBe(300);
    expect(warnings).toEqual([]);
  });

  it('may be negative', () => {
    expect(make()([-50, -10, -20, -30]).offsetSec).toBe(-20);
  });

  it('counts each address once', () => {
    const offset = make()([]);
    for (let i = 0; i < 10; i++) offset.add(at('1.2.3.4', i), 100);
    expect(offset.offsetSec).toBe(0);
  });

  it('is ignored if it is too large, with a warning once', () => {
    const feed = make();
    expect(feed([4200, 4200, 4200, 4200]).offsetSec).toBe(4200);
    expect(warnings).toEqual([]);
    expect(feed([4201, 4201, 4201, 4201, 4201, 4201]).offsetSec).toBe(0);
    expect(warnings).toEqual([CLOCK_WARNING]);
    feed([4201, 4201]);
    expect(warnings).toHaveLength(1);
  });

  it('causes no warning if some peer agrees with us', () => {
    const feed = make();
    expect(feed([-299, 9000, 9000, 9000, 9000, 9000]).offsetSec).toBe(0);
    expect(warnings).toEqual([]);
    make()([-300, 9000, 9000, 9000, 9000, 9000]);
    expect(warnings).toHaveLength(1);
  });

  it('is limited by -maxtimeadjustment', () => {
    expect(make(10)([11, 11, 11, 11]).offsetSec).toBe(0);
    expect(make(11)([11, 11, 11, 11]).offsetSec).toBe(11);
    expect(make(0)([1, 1, 1, 1]).offsetSec).toBe(0);
    expect(make(-5)([0, 0, 0, 0]).offsetSec).toBe(0);
  });

  it('does not change after 199 peers: the number of samples stays even', () => {
    const feed = make();
    expect(feed(Array<number>(198).fill(100)).offsetSec).toBe(100);
    expect(feed(Array<number>(500).fill(200)).offsetSec).toBe(100);
    const other = make();
    other(Array<number>(98).fill(100));
    expect(other(Array<number>(101).fill(200)).offsetSec).toBe(200);
  });
});
