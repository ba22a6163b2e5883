import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ChainEvents, type ConnectedBlock } from '../../../../src/chain/chainEvents.js';
import type { ChainReader } from '../../../../src/chain/chainReader.js';
import { ProgressMonitor } from '../../../../src/node/display/progressMonitor.js';
import { FakeStream } from './fakeStream.js';
import { Console } from '../../../../src/node/display/console.js';

const TIME_SEC = 1_500_000_000;

describe('the displayed progress', () => {
  let stream: FakeStream;
  let logged: string[];
  let reported: string[];
  let events: ChainEvents;
  let state: { height: number; bestHeight: number; txCount: number; initial: boolean; importing: boolean };

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
    stream = new FakeStream({ columns: 100 });
    const console = new Console(stream, 'never', {});
    [logged, reported, events] = [[], [], new ChainEvents()];
    state = { height: 0, bestHeight: 1000, txCount: 0, initial: true, importing: false };
    const headers = {
      height: (id: number) => id,
      timeSec: (id: number) => TIME_SEC + id * 150,
      chainTxCount: () => state.txCount,
    };
    const chain = {
      events,
      get tip() {
        return state.height;
      },
      get height() {
        return state.height;
      },
      get importing() {
        return state.importing;
      },
      isInitialDownload: () => state.initial,
      index: {
        headers,
        get bestHeader() {
          return state.bestHeight;
        },
      },
    };
    new ProgressMonitor(
      {
        show: (status) => console.setStatus(status),
        log: (line) => void logged.push(line),
        tell: (line) => void reported.push(line),
      },
      {
        params: { targetSpacingSec: 150, chainTxData: { timeSec: 0, txCount: 0, txPerSec: 0 } },
        nowSec: () => TIME_SEC + 2000 * 150,
        cacheBytes: () => 3 << 20,
      },
    ).follow({ chain, headers } as unknown as ChainReader);
  });
  afterEach(() => vi.useRealTimers());

  const shown = (): string => stream.screen().at(-1)!;
  const importing = (done: number): void =>
    events.emit('progress', {
      activity: 'Importing blocks.dat',
      done,
      total: 1000,
      height: state.height,
      timeSec: TIME_SEC,
      txCount: state.txCount,
    });
  const connect = (height: number): void => {
    state.height = height;
    events.emit('blockConnected', { id: height } as ConnectedBlock);
  };

  it('of a file is updated in place, with a log line at intervals', () => {
    importing(0);
    expect(shown()).toBe('');
    vi.advanceTimersByTime(2000);
    Object.assign(state, { height: 7, txCount: 400 });
    importing(100);
    expect(shown()).toBe('Importing blocks.dat  10.0 %  height 7  2017-07-14 02:40  200 tx/s  18 s left');
    expect(reported).toEqual([
      'Importing blocks.dat: height 7, 2017-07-14 02:40, 10.0 %, 200 tx/s, cache 3 MiB, 18 s left',
    ]);
    vi.advanceTimersByTime(100);
    importing(150);
    expect(shown()).toContain('10.0 %');
    expect(logged).toEqual([]);
    for (let second = 3; second <= 25; second++) {
      vi.advanceTimersByTime(1000);
      importing(second * 10);
    }
    expect(logged).toHaveLength(2);
    expect(shown()).toContain('25.0 %');
    events.emit('progress', null);
    expect(shown()).toBe('');
  });

  it('of fast work is not shown', () => {
    importing(0);
    vi.advanceTimersByTime(400);
    importing(1000);
    events.emit('progress', null);
    expect([stream.written, logged, reported]).toEqual(['', [], []]);
  });

  it('of filling indexes is shown if there is no other, and is logged too', () => {
    const fill = (done: number): void =>
      events.emit('backgroundProgress', {
        activity: 'Building txindex',
        done,
        total: 1000,
        height: done,
        timeSec: TIME_SEC,
        txCount: done,
      });
    fill(0);
    events.emit('writing', { bytes: 1 });
    events.emit('writing', null);
    expect(shown()).toBe('');
    vi.advanceTimersByTime(2000);
    fill(100);
    expect(shown()).toBe('Building txindex  10.0 %  height 100  2017-07-14 02:40  50 tx/s  18 s left');
    importing(0);
    vi.advanceTimersByTime(1000);
    importing(10);
    fill(150);
    expect(shown()).toContain('Importing blocks.dat  1.0 %');
    vi.advanceTimersByTime(8000);
    fill(200);
    expect(shown()).toContain('Importing blocks.dat  1.0 %');
    expect(logged).toEqual([
      'Building txindex: height 200, 2017-07-14 02:40, 20.0 %, 18 tx/s, cache 3 MiB, 44 s left',
    ]);
    events.emit('progress', null);
    expect(shown()).toContain('Building txindex  20.0 %');
    events.emit('backgroundProgress', null);
    expect(shown()).toBe('');
    expect(reported.every((line) => line.startsWith('Importing'))).toBe(true);
  });

  it('of the initial download shows headers, then blocks, and ends with it', () => {
    const header = (id: number): void => events.emit('headerTip', { id });
    header(400);
    vi.advanceTimersByTime(1000);
    header(500);
    expect(shown()).toBe('Syncing headers  25.0 %  height 500  2017-07-14 23:30  15 s left');
    connect(1);
    vi.advanceTimersByTime(1000);
    state.txCount = 300;
    connect(101);
    expect(shown()).toBe('Syncing blocks  10.1 %  height 101  2017-07-14 06:52  300 tx/s  9 s left');
    header(1000);
    const tip = (id: number, initialDownload: boolean): void =>
      events.emit('tipChanged', { id, height: id, hash: Buffer.alloc(32), forkId: id - 1, initialDownload });
    tip(101, true);
    expect(shown()).toContain('Syncing blocks');
    // No peer has more blocks, even if the last one is old.
    tip(1000, true);
    expect(shown()).toBe('');
    connect(500);
    vi.advanceTimersByTime(1000);
    connect(600);
    expect(shown()).toContain('Syncing blocks  60.0 %');
    state.initial = false;
    tip(601, false);
    expect(shown()).toBe('');
    vi.advanceTimersByTime(1000);
    connect(103);
    header(1001);
    expect(shown()).toBe('');
  });

  it('of blocks from a file is reported once', () => {
    state.importing = true;
    connect(1);
    vi.advanceTimersByTime(1000);
    connect(2);
    expect(stream.written).toBe('');
  });

  it('reports large flushes, also in between', () => {
    events.emit('writing', { bytes: 1 << 20 });
    expect(shown()).toBe('');
    events.emit('writing', { bytes: 300 << 20 });
    expect(shown()).toBe('Writing 300 MiB to disk');
    events.emit('writing', null);
    expect(shown()).toBe('');
    importing(0);
    vi.advanceTimersByTime(1000);
    importing(100);
    events.emit('writing', { bytes: 300 << 20 });
    expect(shown()).toBe('Writing 300 MiB to disk');
    events.emit('writing', null);
    importing(110);
    expect(shown()).toContain('Importing blocks.dat  11.0 %');
  });
});
