import { describe, expect, it } from 'vitest';
import { OutageWatch } from '../../../../src/util/network/outage.js';

const MINUTE = 60_000;

function watched() {
  const lines: string[] = [];
  let nowMs = 5000;
  const watch = new OutageWatch(
    { what: 'a peer', advice: () => 'Check the network.' },
    {
      log: {
        info: (line) => void lines.push(`info ${line}`),
        warn: (line) => void lines.push(`warn ${line}`),
      },
      nowMs: () => nowMs,
    },
  );
  /** Checks every five seconds. */
  function passes(ms: number, isReached: boolean | null): string[] {
    for (const end = nowMs + ms; nowMs < end; nowMs += 5000) watch.check(isReached);
    watch.check(isReached);
    return lines.splice(0);
  }
  return { watch, passes };
}

describe('an outage', () => {
  it('is reported after a minute, then after ten, then hourly, and when it is over', () => {
    const { watch, passes } = watched();
    expect(passes(MINUTE - 5000, false)).toEqual([]);
    expect(watch.warning).toBe('');
    expect(passes(5000, false)).toEqual(['warn No connection to a peer for 1 minute. Check the network.']);
    expect(watch.warning).toBe('No connection to a peer for 1 minute. Check the network.');
    expect(passes(10 * MINUTE - 5000, false)).toEqual([]);
    expect(passes(5000, false)).toEqual(['warn No connection to a peer for 11 minutes. Check the network.']);
    expect(passes(60 * MINUTE - 5000, false)).toEqual([]);
    expect(passes(120 * MINUTE, false)).toHaveLength(2);
    expect(watch.warning).toBe('No connection to a peer for 3 hours. Check the network.');
    expect(passes(0, true)).toEqual(['info Connected to a peer again, after 3 hours.']);
    expect(watch.warning).toBe('');
  });

  it('starts over after contact was lost again', () => {
    const { watch, passes } = watched();
    passes(MINUTE, false);
    passes(0, true);
    expect(passes(MINUTE - 5000, false)).toEqual([]);
    expect(watch.warning).toBe('');
    expect(passes(5000, false)).toHaveLength(1);
  });

  it('ends without a line when no connection is needed any more', () => {
    const { watch, passes } = watched();
    expect(passes(2 * MINUTE, null)).toEqual([]);
    passes(MINUTE, false);
    expect(passes(0, null)).toEqual([]);
    expect(watch.warning).toBe('');
  });
});
