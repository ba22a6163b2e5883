import { beforeEach, describe, expect, it } from 'vitest';
import {
  Transfers,
  type TransferEvent,
  type TransferSubject,
} from '../../../../src/daemon/base/transfers.js';
import { FakeClock } from '../../../support/fakeClock.js';

const DOWNLOAD: TransferSubject = {
  kind: 'download',
  sdHash: 'ab',
  claimName: 'film',
  path: '/films/film.mp4',
  reflector: null,
};

let clock: FakeClock;
let transfers: Transfers;
let state: { bytesDone: number; bytesTotal: number | null; bytesPerSecond: number; peers: number | null };
beforeEach(() => {
  clock = new FakeClock();
  transfers = new Transfers(clock);
  state = { bytesDone: 0, bytesTotal: 1000, bytesPerSecond: 0, peers: 2 };
});

describe('transfers', () => {
  it('are shown with their current progress, until they end', () => {
    const end = transfers.begin(DOWNLOAD, () => state);
    const row = {
      id: 1,
      kind: 'download',
      sd_hash: 'ab',
      claim_name: 'film',
      path: '/films/film.mp4',
      reflector: null,
      bytes_done: 0,
      bytes_total: 1000,
      bytes_per_second: 0,
      seconds_left: null,
      peers: 2,
    };
    expect(transfers.all()).toEqual([row]);
    state = { bytesDone: 400, bytesTotal: 1000, bytesPerSecond: 130, peers: null };
    expect(transfers.all()[0]).toMatchObject({ bytes_done: 400, seconds_left: 5, peers: null });
    state = { ...state, bytesTotal: null };
    expect(transfers.all()[0]).toMatchObject({ bytes_total: null, seconds_left: null });
    end('finished');
    end('failed');
    expect(transfers.all()).toEqual([]);
  });

  it('are reported to listeners when they begin, each second, and when they end', async () => {
    const received: TransferEvent[] = [];
    const unlisten = transfers.listen((event) => received.push(event));
    await clock.advance(10_000);
    expect(received).toEqual([]);
    const end = transfers.begin(DOWNLOAD, () => state);
    await clock.advance(2500);
    const endOther = transfers.begin({ ...DOWNLOAD, kind: 'reflect' }, () => state);
    end('failed', 'the disk is full');
    endOther('stopped');
    await clock.advance(10_000);
    expect(received.map(({ name }) => name)).toEqual([
      'begun',
      'progress',
      'progress',
      'begun',
      'ended',
      'ended',
    ]);
    expect(received[1]!.data).toMatchObject({ transfers: [{ id: 1, kind: 'download' }] });
    expect(received[4]!.data).toMatchObject({ id: 1, outcome: 'failed', error: 'the disk is full' });
    expect(received[5]!.data).toMatchObject({ id: 2, outcome: 'stopped', error: null });
    unlisten();
    transfers.begin(DOWNLOAD, () => state);
    await clock.advance(5000);
    expect(received).toHaveLength(6);
  });

  it('are reported to a later listener', async () => {
    transfers.begin(DOWNLOAD, () => state);
    await clock.advance(5000);
    const received: string[] = [];
    transfers.listen(({ name }) => received.push(name));
    await clock.advance(1000);
    expect(received).toEqual(['progress']);
    transfers.close();
    await clock.advance(5000);
    expect(received).toEqual(['progress']);
  });
});
