import { beforeEach, describe, expect, it } from 'vitest';
import { peerQueue } from '../../../../src/scheduler/peerQueue.js';
import { INV } from '../../../../src/net/inventory.js';
import { BloomFilter, BLOOM_UPDATE } from '../../../../src/net/bloom/bloomFilter.js';
import { BloomFilters } from '../../../../src/net/relay/bloomFilters.js';
import { TxAnnouncer } from '../../../../src/net/relay/txAnnounce.js';
import { formatTransaction, txid } from '../../../../src/primitives/transaction.js';
import { hashToHex, toHex } from '../../../../src/util/bytes.js';
import { PartHost, type FakePeer, type FakePeerOptions } from '../../../support/fakePeer.js';
import { EntryMempool, numberedTx, seededRandom, START_SEC, TestClock } from './support.js';

/** Longer than all random delays. */
const LONG_SEC = 120;

describe('announcing transactions', () => {
  let clock: TestClock;
  let mempool: EntryMempool;
  let filters: BloomFilters;
  let announcer: TxAnnouncer;
  let host: PartHost;
  const rates = new Map<number, bigint>();
  const uploadTarget = { isReached: false };

  function make(servesFilters = true): void {
    clock = new TestClock();
    mempool = new EntryMempool();
    filters = new BloomFilters({ servesFilters });
    announcer = new TxAnnouncer(
      { servesFilters },
      {
        mempool,
        filters,
        fees: { rateOf: (peer) => rates.get(peer.id) ?? 0n },
        uploadTarget,
        random: seededRandom(),
        nowMs: clock.nowMs,
        nowSec: clock.nowSec,
      },
    );
    host = new PartHost([filters, announcer]);
  }

  beforeEach(() => {
    rates.clear();
    uploadTarget.isReached = false;
    make();
  });

  /** Connects a peer and runs its first tick, which sends nothing. */
  function connect(options: FakePeerOptions = {}): FakePeer {
    const peer = host.connect(options);
    host.tick(clock.ms, peer);
    return peer;
  }

  /** Printed ids that were announced to the peer since the last call, in order. */
  function reported(peer: FakePeer): string[] {
    return peer.take('inv').flatMap(({ items }) => {
      for (const { type } of items) expect(type).toBe(INV.tx);
      return items.map(({ hash }) => hashToHex(hash));
    });
  }

  function turn(...peers: FakePeer[]): string[][] {
    host.tick(clock.ms, ...peers);
    return peers.map(reported);
  }

  /** Puts transactions into the mempool and announces them; answers their printed ids. */
  function announce(count: number, first = 0): string[] {
    return Array.from({ length: count }, (_, i) => {
      const id = mempool.put(numberedTx(first + i), { feeSat: BigInt(100_000 - i) });
      announcer.announce(id);
      return hashToHex(id);
    });
  }

  /** Seconds until the next announcement to the peer, in steps of 100 ms. */
  function waitFor(peer: FakePeer): number {
    for (let sec = 0; sec < LONG_SEC; sec += 0.1) {
      if (turn(peer)[0]!.length > 0) return sec;
      clock.advance(0.1);
    }
    throw new Error('nothing came');
  }

  describe('delays them', () => {
    it('by five seconds on average for inbound peers, by two for outbound ones', () => {
      const mean = (options: FakePeerOptions): number => {
        const peer = connect(options);
        let sum = 0;
        for (let i = 0; i < 150; i++) {
          announce(1, i);
          sum += waitFor(peer);
        }
        peer.disconnect('done');
        return sum / 150;
      };
      const inbound = mean({ kind: 'inbound' });
      expect(inbound).toBeGreaterThan(3.8);
      expect(inbound).toBeLessThan(6.2);
      make();
      const outbound = mean({ kind: 'outbound' });
      expect(outbound).toBeGreaterThan(1.5);
      expect(outbound).toBeLessThan(2.6);
    });

    it('equally for all inbound peers, separately for each outbound one', () => {
      const inbound = Array.from({ length: 6 }, () => connect({ kind: 'inbound' }));
      const outbound = Array.from({ length: 6 }, () => connect({ kind: 'outbound' }));
      announce(1);
      const when = (peers: FakePeer[]): Set<number> => {
        const start = clock.ms;
        const moments = new Set<number>();
        for (let step = 0; step < 1000; step++) {
          turn(...peers).forEach((ids) => ids.length > 0 && moments.add(clock.ms - start));
          clock.advance(0.1);
        }
        return moments;
      };
      expect(when(inbound).size).toBe(1);
      make();
      const others = outbound.map(() => connect({ kind: 'outbound' }));
      announce(1);
      expect(when(others).size).toBeGreaterThan(2);
    });

    it('not at all for whitelisted peers', () => {
      const peer = connect({ isWhitelisted: true });
      for (let i = 0; i < 5; i++) {
        expect(turn(peer)).toEqual([[]]);
        expect(turn(peer)).toEqual([[]]);
        const ids = announce(1, i);
        expect(turn(peer)).toEqual([ids]);
      }
    });
  });

  it('sorts by ancestors, then by fee rate, in batches of 35', () => {
    const peer = connect();
    const expected: { ancestorCount: number; feeSat: bigint; id: string }[] = [];
    const random = seededRandom(9);
    for (let i = 0; i < 100; i++) {
      const entry = { ancestorCount: 1 + random.int(4), feeSat: BigInt(1000 + random.int(5000)) };
      const id = mempool.put(numberedTx(i), entry);
      expected.push({ ...entry, id: hashToHex(id) });
      announcer.announce(id);
    }
    const order = expected
      .sort((a, b) => a.ancestorCount - b.ancestorCount || Number(b.feeSat - a.feeSat))
      .map(({ id }) => id);
    for (const [from, to] of [
      [0, 35],
      [35, 70],
      [70, 100],
    ] as const) {
      clock.advance(LONG_SEC);
      expect(turn(peer)).toEqual([order.slice(from, to)]);
    }
    clock.advance(LONG_SEC);
    expect(turn(peer)).toEqual([[]]);
  });

  it('omits transactions that the peer has or was notified of', () => {
    const [first, second] = [connect(), connect()];
    const id = mempool.put(numberedTx(1));
    announcer.noteKnown(first, id);
    announcer.announce(id);
    clock.advance(LONG_SEC);
    expect(turn(first, second)).toEqual([[], [hashToHex(id)]]);
    announcer.announce(id);
    const late = mempool.put(numberedTx(2));
    announcer.announce(late);
    announcer.noteKnown(second, late);
    clock.advance(LONG_SEC);
    expect(turn(first, second)).toEqual([[hashToHex(late)], []]);
  });

  it('omits transactions that have left the mempool', () => {
    const peer = connect();
    const [gone] = [mempool.put(numberedTx(1))];
    announcer.announce(gone);
    const [stays] = announce(1, 2);
    mempool.drop(gone);
    clock.advance(LONG_SEC);
    expect(turn(peer)).toEqual([[stays]]);
  });

  it('omits transactions below the fee filter of the peer', () => {
    const [modest, picky] = [connect(), connect()];
    const sizeBytes = formatTransaction(numberedTx(0)).length;
    rates.set(picky.id, 2000n);
    const enough = BigInt(2 * sizeBytes);
    const [poor, rich] = [enough - 1n, enough].map((feeSat, i) => {
      const id = mempool.put(numberedTx(i), { feeSat });
      announcer.announce(id);
      return hashToHex(id);
    });
    clock.advance(LONG_SEC);
    expect(turn(modest, picky)).toEqual([[rich, poor], [rich]]);
  });

  it('omits transactions that do not match the filter of the peer', async () => {
    const peer = connect();
    const wanted = Buffer.concat([Buffer.of(20), Buffer.alloc(20, 7)]);
    const filter = BloomFilter.create({
      elements: 10,
      falsePositiveRate: 0.000001,
      tweak: 5,
      flags: BLOOM_UPDATE.all,
    });
    filter.insert(wanted.subarray(1));
    await host.deliver(peer, 'filterload', filter.format());
    announcer.announce(mempool.put(numberedTx(1)));
    const match = mempool.put(numberedTx(2, wanted));
    announcer.announce(match);
    // The matching output was added to the filter, so its spend matches too.
    const spender = numberedTx(3);
    spender.inputs[0]!.prevout = { hash: match, index: 0 };
    announcer.announce(mempool.put(spender, { ancestorCount: 2 }));
    clock.advance(LONG_SEC);
    expect(turn(peer)).toEqual([[hashToHex(match), hashToHex(txid(spender))]]);
    await host.deliver(peer, 'filterclear', null);
    const ids = announce(1, 4);
    clock.advance(LONG_SEC);
    expect(turn(peer)).toEqual([ids]);
  });

  it('sends nothing to a peer without relay, until a filter is set', async () => {
    const peer = connect({ relay: false });
    announce(1);
    clock.advance(LONG_SEC);
    expect(turn(peer)).toEqual([[]]);
    await host.deliver(peer, 'filterclear', null);
    const ids = announce(1, 1);
    clock.advance(LONG_SEC);
    expect(turn(peer)).toEqual([ids]);
  });

  it('keeps a limited list for each peer', () => {
    const peer = connect();
    for (let i = 0; i < 20; i++) mempool.put(numberedTx(i), { feeSat: 100_000n - BigInt(i) });
    const here = mempool.ids();
    for (const id of here) announcer.announce(id);
    const gone = Buffer.alloc(32);
    let most = 0;
    for (let i = 0; i < 120_000; i++) {
      gone.writeUInt32BE(i);
      announcer.announce(gone);
      most = Math.max(most, announcer.pendingCount(peer));
    }
    expect(most).toBe(50_000);
    clock.advance(LONG_SEC);
    expect(turn(peer)[0]).toEqual(here.map(hashToHex));
    expect(announcer.pendingCount(peer)).toBe(0);
  });

  it('drops the oldest entries if all of a full list is in the mempool', () => {
    const peer = connect();
    mempool.hasKey = () => true;
    const first = mempool.put(numberedTx(1));
    announcer.announce(first);
    const others = Buffer.alloc(32);
    for (let i = 0; i < 50_000; i++) {
      others.writeUInt32BE(i);
      announcer.announce(others);
    }
    expect(announcer.pendingCount(peer)).toBe(45_000);
    clock.advance(LONG_SEC);
    expect(turn(peer)).toEqual([[]]);
  });

  describe('all of the mempool (BIP35)', () => {
    it('is sent in the next batches in order, and can be requested from then on', async () => {
      const ids = Array.from({ length: 2300 }, (_, i) =>
        mempool.put(numberedTx(i), { feeSat: BigInt(5000 - i) }),
      );
      const peer = connect();
      await host.deliver(peer, 'mempool', null);
      expect(announcer.serve(peer, { type: INV.tx, hash: ids[0]! })).toBe(false);
      clock.advance(LONG_SEC);
      const order = ids.map(hashToHex);
      expect(turn(peer)).toEqual([order.slice(0, 1000)]);
      // A transaction that arrives later is not part of the answer.
      clock.advance(1);
      const late = mempool.put(numberedTx(9999), { timeSec: clock.nowSec() });
      mempool.drop(ids[1500]!);
      expect(turn(peer)).toEqual([order.slice(1000, 2000).filter((id) => id !== order[1500])]);
      expect(turn(peer)).toEqual([order.slice(2000)]);
      expect(turn(peer)).toEqual([[]]);
      expect(announcer.serve(peer, { type: INV.tx, hash: ids[2299]! })).toBe(true);
      expect(announcer.serve(peer, { type: INV.tx, hash: late })).toBe(false);
    });

    it('is the state at the time of the request, while another request is being answered', async () => {
      const ids = Array.from({ length: 1500 }, (_, i) =>
        mempool.put(numberedTx(i), { feeSat: BigInt(5000 - i) }),
      );
      const [first, second] = [connect(), connect()];
      await host.deliver(first, 'mempool', null);
      clock.advance(LONG_SEC);
      expect(turn(first)[0]).toHaveLength(1000);
      const late = mempool.put(numberedTx(9999), { feeSat: 9999n });
      await host.deliver(second, 'mempool', null);
      clock.advance(LONG_SEC);
      const [rest, all] = turn(first, second);
      expect(rest).toEqual(ids.slice(1000).map(hashToHex));
      expect(all).toEqual([late, ...ids.slice(0, 999)].map(hashToHex));
    });

    it('is limited by fee rate and filter of the peer', async () => {
      const peer = connect();
      const wanted = Buffer.concat([Buffer.of(20), Buffer.alloc(20, 7)]);
      const poor = mempool.put(numberedTx(1, wanted), { feeSat: 1n });
      const rich = mempool.put(numberedTx(2, wanted));
      mempool.put(numberedTx(3));
      rates.set(peer.id, 1000n);
      const options = { elements: 10, falsePositiveRate: 0.000001, tweak: 5, flags: BLOOM_UPDATE.none };
      const filter = BloomFilter.create(options);
      filter.insert(wanted.subarray(1));
      await host.deliver(peer, 'filterload', filter.format());
      await host.deliver(peer, 'mempool', null);
      clock.advance(LONG_SEC);
      expect(turn(peer)).toEqual([[hashToHex(rich)]]);
      rates.clear();
      await host.deliver(peer, 'mempool', null);
      clock.advance(LONG_SEC);
      expect(turn(peer)[0]!.sort()).toEqual([hashToHex(poor), hashToHex(rich)].sort());
    });

    it('is sorted in several slices if it is large', async () => {
      const ids = Array.from({ length: 40 }, (_, i) =>
        mempool.put(numberedTx(i), { feeSat: BigInt(5000 - i) }),
      );
      mempool.sortedAtOnce = 40;
      const peers = [connect(), connect()];
      for (const peer of peers) await host.deliver(peer, 'mempool', null);
      clock.advance(LONG_SEC);
      expect(turn(...peers)).toEqual([[], []]);
      await peerQueue.nextTurn();
      const order = ids.map(hashToHex);
      expect(turn(...peers)).toEqual([order, order]);
      expect(turn(...peers)).toEqual([[], []]);
    });

    it('is compared with a filter in slices of bounded work', async () => {
      const peer = connect();
      const script = Buffer.alloc(10_000, 0x51);
      const ids = Array.from({ length: 20 }, (_, i) =>
        mempool.put(numberedTx(i, script), { feeSat: BigInt(5000 - i) }),
      );
      const filter = BloomFilter.create({ elements: 50, falsePositiveRate: 1e-6, tweak: 5, flags: 0 });
      for (const id of ids) filter.insert(id);
      await host.deliver(peer, 'filterload', filter.format());
      await host.deliver(peer, 'mempool', null);
      clock.advance(LONG_SEC);
      const order = ids.map(hashToHex);
      const parts = [turn(peer)[0]!, turn(peer)[0]!, turn(peer)[0]!, turn(peer)[0]!];
      expect(parts.map(({ length }) => length)).toEqual([7, 7, 6, 0]);
      expect(parts.flat()).toEqual(order);
    });

    it('is not sent if filters are off or the upload limit is reached, except to whitelisted peers', async () => {
      make(false);
      const [stranger, friend] = [connect(), connect({ isWhitelisted: true })];
      await host.deliver(stranger, 'mempool', null);
      expect(stranger.goneReason).toBe('mempool request with bloom filters disabled');
      mempool.put(numberedTx(1));
      await host.deliver(friend, 'mempool', null);
      expect(turn(friend)[0]).toHaveLength(1);
      make();
      uploadTarget.isReached = true;
      const [other, second] = [connect(), connect({ isWhitelisted: true })];
      await host.deliver(other, 'mempool', null);
      await host.deliver(second, 'mempool', null);
      expect(other.goneReason).toBe('mempool request with bandwidth limit reached');
      expect(second.goneReason).toBeNull();
    });
  });

  describe('serves on request', () => {
    it('every announced transaction to any peer, for a quarter of an hour', () => {
      const [first, second] = [connect(), connect({ relay: false })];
      const tx = numberedTx(1);
      const id = mempool.put(tx);
      const item = { type: INV.tx, hash: id };
      announcer.announce(id);
      expect(announcer.serve(first, item)).toBe(false);
      clock.advance(LONG_SEC);
      turn(first);
      mempool.drop(id);
      expect(announcer.serve(second, item)).toBe(true);
      expect(second.take('tx').map(({ raw }) => toHex(raw))).toEqual([toHex(formatTransaction(tx))]);
      clock.advance(15 * 60);
      expect(announcer.serve(second, item)).toBe(true);
      clock.advance(0.001);
      expect(announcer.serve(second, item)).toBe(false);
      expect(announcer.serve(second, { type: INV.tx, hash: Buffer.alloc(32) })).toBe(false);
    });

    it('a transaction with or without witness', () => {
      const peer = connect();
      const tx = numberedTx(1, undefined, [Buffer.of(1, 2, 3)]);
      const id = mempool.put(tx);
      announcer.announce(id);
      clock.advance(LONG_SEC);
      turn(peer);
      announcer.serve(peer, { type: INV.witnessTx, hash: id });
      announcer.serve(peer, { type: INV.tx, hash: id });
      expect(peer.take('tx').map(({ raw }) => toHex(raw))).toEqual([
        toHex(formatTransaction(tx)),
        toHex(formatTransaction(tx, false)),
      ]);
    });

    it('transactions only', () => {
      const types = Object.values(INV).filter((type) => announcer.handles(type));
      expect(types).toEqual([INV.tx, INV.witnessTx]);
    });
  });

  it('no entries of the mempool that are newer than the second of their announcement', async () => {
    const peer = connect();
    await host.deliver(peer, 'mempool', null);
    clock.advance(LONG_SEC);
    turn(peer);
    const same = mempool.put(numberedTx(1), { timeSec: START_SEC + LONG_SEC });
    const later = mempool.put(numberedTx(2), { timeSec: START_SEC + LONG_SEC + 1 });
    expect(announcer.serve(peer, { type: INV.tx, hash: same })).toBe(true);
    expect(announcer.serve(peer, { type: INV.tx, hash: later })).toBe(false);
  });
});
