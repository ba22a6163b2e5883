import { beforeEach, describe, expect, it } from 'vitest';
import type { UnbroadcastSource } from '../../../../src/mempool/mempoolReader.js';
import { Unbroadcast } from '../../../../src/mempool/unbroadcast.js';
import { INV, type InvItem } from '../../../../src/net/inventory.js';
import { Rebroadcast } from '../../../../src/net/relay/rebroadcast.js';
import { toHex, toLatin1, type Bytes } from '../../../../src/util/bytes.js';
import { PartHost, type FakePeer } from '../../../support/fakePeer.js';
import { numberedHash, seededRandom, TestClock } from './support.js';

const MINUTE_SEC = 60;

describe('rebroadcasting unrequested transactions', () => {
  let clock: TestClock;
  let waiting: Unbroadcast;
  let announced: string[];
  let served: string[];
  let part: Rebroadcast;
  let host: PartHost;
  let peer: FakePeer;

  beforeEach(() => {
    clock = new TestClock();
    waiting = new Unbroadcast();
    announced = [];
    served = [];
    const mempool: UnbroadcastSource = {
      get unbroadcastCount() {
        return waiting.size;
      },
      unbroadcastKeys: () => waiting.keys(),
      noteRequested: (key) => waiting.delete(key),
    };
    const announcer = {
      announce: (txid: Bytes) => void announced.push(toHex(txid)),
      handles: (type: number) => type === INV.tx,
      serve: (_peer: unknown, { hash }: InvItem) => {
        served.push(toHex(hash));
        return hash[3] !== 9;
      },
    };
    part = new Rebroadcast({ mempool, announcer, random: seededRandom(), nowMs: clock.nowMs });
    host = new PartHost([part]);
    peer = host.connect();
  });

  const add = (number: number): string => {
    waiting.add(toLatin1(numberedHash(number)));
    return toHex(numberedHash(number));
  };
  const after = (minutes: number): string[] => {
    host.tick(clock.advance(minutes * MINUTE_SEC), peer);
    return announced.splice(0);
  };

  it('waits ten to fifteen minutes each time', () => {
    const ids = [add(1), add(2)];
    expect(after(10)).toEqual([]);
    expect(after(5)).toEqual(ids);
    expect(after(9)).toEqual([]);
    expect(after(6)).toEqual(ids);
  });

  it('ends if a peer requested it, and not if it could not be served', async () => {
    const wanted = [add(7), add(9)];
    for (const number of [7, 9, 8]) {
      const item = { type: INV.tx, hash: numberedHash(number) };
      expect(part.handles(item.type)).toBe(true);
      expect(await part.serve(peer, item)).toBe(number !== 9);
    }
    expect(served).toHaveLength(3);
    expect(after(15)).toEqual([wanted[1]]);
    expect(part.handles(INV.block)).toBe(false);
  });

  it('keeps a limited number and drops the oldest', () => {
    waiting = new Unbroadcast(3);
    const ids = [1, 2, 3, 4, 5].map(add);
    expect(waiting.size).toBe(3);
    expect(after(15)).toEqual(ids.slice(2));
  });
});
