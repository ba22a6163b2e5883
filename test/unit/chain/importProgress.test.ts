import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Chain } from '../../../src/chain/chain.js';
import { ImportProgress } from '../../../src/chain/importProgress.js';
import { NO_HEADER } from '../../../src/store/headerTable.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';

describe('progress of reading blocks', () => {
  const lines: string[] = [];
  const state = { tip: NO_HEADER, height: -1, txCount: 0 };
  const chain = {
    get tip() {
      return state.tip;
    },
    get height() {
      return state.height;
    },
    index: { headers: { chainTxCount: () => state.txCount, timeSec: () => 1_500_000_000 } },
  } as unknown as Chain;
  const log = { ...SILENT_LOGGER, info: (line: string) => void lines.push(line) };

  beforeEach(() => {
    lines.length = 0;
    vi.useFakeTimers({ toFake: ['performance'] });
  });
  afterEach(() => vi.useRealTimers());

  it('is a line every five seconds, from the first block on, for the log and for who asks meanwhile', () => {
    const shown: string[] = [];
    const progress = new ImportProgress(chain, {
      what: 'Importing',
      log,
      describeCache: () => 'cache 3 MiB',
      showStatus: (line) => void shown.push(line),
    });
    progress.report(0, 1000);
    vi.advanceTimersByTime(6000);
    progress.report(100, 1000);
    expect(lines).toEqual([]);
    Object.assign(state, { tip: 7, height: 7, txCount: 600 });
    progress.report(100, 1000);
    vi.advanceTimersByTime(4000);
    progress.report(200, 1000);
    vi.advanceTimersByTime(2000);
    state.txCount = 1800;
    progress.report(400, 1000);
    expect(lines).toEqual([
      'Importing: height 7, 2017-07-14T02:40, 10.0 %, 100 transactions/s, cache 3 MiB, about 54 s left',
      'Importing: height 7, 2017-07-14T02:40, 40.0 %, 200 transactions/s, cache 3 MiB, about 18 s left',
    ]);
    expect(shown).toEqual(['Importing...', ...lines]);
  });

  it('judges what remains by what it did itself', () => {
    Object.assign(state, { tip: 7, height: 7, txCount: 0 });
    const progress = new ImportProgress(chain, { what: 'Connecting blocks', log, describeCache: () => '-' });
    progress.report(900, 1000);
    vi.advanceTimersByTime(300_000);
    progress.report(910, 1000);
    expect(lines[0]).toMatch(/^Connecting blocks: .* 91\.0 %, .*, about 45 min left$/);
  });
});
