/** The output of the command line on a terminal while a call runs. */
import { beforeEach, describe, expect, it } from 'vitest';
import {
  barLine,
  bytesText,
  durationText,
  sumOf,
  type ShownTransfer,
} from '../../../../src/daemon/main/transferBar.js';
import { isWatched, WatchedCall } from '../../../../src/daemon/main/watchedCall.js';
import { JsonObject } from '../../../../src/util/json/json.js';
import { FakeClock } from '../../../support/fakeClock.js';

const transfer = (more: Partial<ShownTransfer> = {}): ShownTransfer => ({
  kind: 'download',
  sd_hash: 'ab',
  path: '/films/film.mp4',
  reflector: null,
  bytes_done: 25_000_000,
  bytes_total: 100_000_000,
  bytes_per_second: 2_500_000,
  seconds_left: 30,
  peers: 3,
  ...more,
});

describe('the line', () => {
  it('shows the share, sizes, rate, peers and time left', () => {
    const bar = `[${'#'.repeat(6)}${'-'.repeat(18)}]`;
    expect(barLine(transfer(), 120)).toBe(`${bar}   25%  25.0 MB of 100.0 MB  2.5 MB/s  3 peers  0:30 left`);
    expect(barLine(transfer({ bytes_total: null, seconds_left: null, peers: 1 }), 120)).toBe(
      `[${'-'.repeat(24)}]    ?%  25.0 MB  2.5 MB/s  1 peer`,
    );
    expect(barLine(transfer({ bytes_done: 200_000_000 }), 120)).toContain('100%  100.0 MB of 100.0 MB');
  });

  it('is never wider than the terminal', () => {
    for (const columns of [1, 20, 80])
      expect(barLine(transfer(), columns).length).toBeLessThan(Math.max(2, columns));
  });

  it('counts in thousands', () => {
    expect([0, 999, 1000, 1_234_567, 5e12].map(bytesText)).toEqual([
      '0 B',
      '999 B',
      '1.0 kB',
      '1.2 MB',
      '5.0 TB',
    ]);
    expect([0, 7, 61, 3723].map(durationText)).toEqual(['0:00', '0:07', '1:01', '1:02:03']);
  });

  it('sums up several transfers', () => {
    expect(sumOf([])).toBeNull();
    expect(sumOf([transfer(), transfer({ bytes_done: 75_000_000 })])).toMatchObject({
      bytes_done: 100_000_000,
      bytes_total: 200_000_000,
      bytes_per_second: 5_000_000,
      seconds_left: 20,
    });
    expect(sumOf([transfer(), transfer({ bytes_total: null })])).toMatchObject({
      bytes_total: null,
      seconds_left: null,
    });
  });
});

describe('a call on a terminal', () => {
  let clock: FakeClock;
  let shown: string[];
  let running: ShownTransfer[];
  let asked: string[];
  let file: object;
  let call: WatchedCall;
  beforeEach(() => {
    clock = new FakeClock();
    [shown, running, asked, file] = [[], [], [], {}];
    call = new WatchedCall({
      clock,
      terminal: { columns: 100, write: (text) => shown.push(text) },
      send: (method) => {
        asked.push(method);
        const result = method === 'status' ? { transfers: running } : { items: [file] };
        return Promise.resolve(JSON.stringify({ result }));
      },
    });
  });
  const lines = (): string[] => shown.map((text) => text.replace(/^\r\x1b\[K/, ''));

  it('shows a publication, and clears the line before the result', async () => {
    let answer: (text: string) => void = () => undefined;
    const answered = new Promise<string>((resolve) => (answer = resolve));
    const params = new JsonObject([['file_path', 'film.mp4']]);
    const result = call.until('publish', params, answered);
    running = [
      transfer({ kind: 'publish', peers: null }),
      transfer({ kind: 'publish', path: '/other.mp4' }),
      transfer(),
    ];
    await clock.advance(400);
    expect(shown).toEqual([]);
    await clock.advance(200);
    expect(lines()).toEqual([expect.stringContaining('25.0 MB of 100.0 MB  2.5 MB/s  0:30 left')]);
    running = [];
    await clock.advance(1000);
    expect(lines().at(-1)).toBe('Waiting for the daemon: 1 s');
    answer('{}');
    expect(await clock.until(result)).toBe('{}');
    expect(shown.at(-1)).toBe('\r\x1b[K');
  });

  it('shows nothing for a short call, and passes failures on', async () => {
    expect(await call.until('file_reflect', new JsonObject([]), Promise.resolve('{}'))).toBe('{}');
    const failing = call.until('publish', new JsonObject([]), Promise.reject(new Error('gone')));
    await expect(clock.until(failing)).rejects.toThrow('gone');
    expect([shown, asked]).toEqual([[], []]);
  });

  it('shows the rest of a download until it is saved', async () => {
    running = [transfer(), transfer({ sd_hash: 'cd', bytes_done: 1 })];
    const end = call.afterGet('{"result": {"sd_hash": "ab"}}');
    await clock.advance(1200);
    file = { status: 'finished', download_path: '/films/film.mp4' };
    running = [];
    await clock.until(end);
    expect(lines().slice(0, 2)).toEqual(
      Array.from({ length: 2 }, () => expect.stringContaining('25.0 MB of') as string),
    );
    expect(shown.slice(-2)).toEqual(['\r\x1b[K', 'Saved: /films/film.mp4\n']);
  });

  it('reports a download that ended early', async () => {
    running = [transfer()];
    const end = call.afterGet('{"result": {"sd_hash": "ab"}}');
    await clock.advance(100);
    [running, file] = [[], { status: 'stopped', download_path: null }];
    await clock.until(end);
    expect(shown.at(-1)).toContain('ended before');
  });

  it('shows nothing after a failed get, or with a daemon without transfers', async () => {
    for (const answer of ['{"result": {"error": "no"}}', '{"error": {}}', 'no JSON', null])
      await call.afterGet(answer);
    expect(asked).toEqual([]);
    await call.afterGet('{"result": {"sd_hash": "ab"}}');
    expect([shown, asked]).toEqual([[], ['status']]);
  });

  it('is a method that transfers files', () => {
    expect(['get', 'publish', 'stream_create', 'stream_update', 'file_reflect'].every(isWatched)).toBe(true);
    expect(['status', 'constructor', 'file_list'].some(isWatched)).toBe(false);
  });
});
