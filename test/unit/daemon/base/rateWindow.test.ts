import { describe, expect, it } from 'vitest';
import { RateWindow } from '../../../../src/daemon/base/rateWindow.js';

describe('a rate over the last seconds', () => {
  it('counts the bytes of five seconds, divided by the elapsed time', () => {
    let nowMs = 1000;
    const rate = new RateWindow({ nowMs: () => nowMs });
    expect(rate.perSecond).toBe(0);
    rate.add(500);
    expect(rate.perSecond).toBe(500);
    nowMs += 2000;
    rate.add(1500);
    expect(rate.perSecond).toBe(1000);
    nowMs += 2999;
    expect(rate.perSecond).toBe(400);
    nowMs += 1;
    expect(rate.perSecond).toBe(300);
    nowMs += 60_000;
    expect(rate.perSecond).toBe(0);
  });
});
