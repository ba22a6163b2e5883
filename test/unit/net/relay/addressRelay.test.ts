import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_ADDRESSES, type AddressEntry } from '../../../../src/net/messages/addr.js';
import { formatNetAddress, parseNetAddress, type NetAddress } from '../../../../src/net/netAddress.js';
import { AddressRelay } from '../../../../src/net/relay/addressRelay.js';
import { NODE } from '../../../../src/net/services.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { PartHost, type FakePeer } from '../../../support/fakePeer.js';
import { seededRandom, TestClock } from './support.js';

const SERVICES = NODE.network | NODE.bloom;
const OWN = parseNetAddress('9.9.9.9:9246', 0)!;
const SEEN = parseNetAddress('7.7.7.7:9246', 0)!;

describe('addresses', () => {
  let clock: TestClock;
  let relay: AddressRelay;
  let host: PartHost;
  let added: { entries: readonly AddressEntry[]; source: NetAddress; penaltySec: number }[];
  let bookEntries: AddressEntry[];
  let own: NetAddress | null;
  let behind: boolean;
  let limited: Set<string>;

  function at(i: number): NetAddress {
    return parseNetAddress(`11.${i >> 16}.${(i >> 8) & 255}.${i & 255}:9246`, 0)!;
  }

  function entry(i: number, ageSec = 0, services = SERVICES): AddressEntry {
    return { address: at(i), services, timeSec: clock.nowSec() - ageSec };
  }

  function entries(count: number): AddressEntry[] {
    return Array.from({ length: count }, (_, i) => entry(i));
  }

  beforeEach(() => {
    clock = new TestClock();
    added = [];
    bookEntries = [];
    own = null;
    behind = false;
    limited = new Set();
    relay = new AddressRelay({
      book: {
        add: (reported, source, penaltySec = 0) => added.push({ entries: reported, source, penaltySec }),
        getAddresses: () => bookEntries,
      },
      local: {
        best: () => own,
        toAdvertise: (_, seenUsAt) => own ?? (seenUsAt && { ip: seenUsAt.ip, port: 9246 }),
      },
      networks: { isLimited: (address) => limited.has(formatNetAddress(address as NetAddress)) },
      chain: { isInitialDownload: () => behind },
      seenUsAt: () => SEEN,
      localServices: () => SERVICES,
      adjustedTimeSec: clock.nowSec,
      random: seededRandom(),
      log: SILENT_LOGGER,
    });
    host = new PartHost([relay]);
  });

  const tell = (peer: FakePeer, addresses: AddressEntry[]): Promise<void> =>
    host.deliver(peer, 'addr', { addresses });

  /** The addresses that were sent to the peer since the last call, in printed form. */
  function reported(peer: FakePeer): string[] {
    host.tick(clock.ms, peer);
    return peer
      .take('addr')
      .flatMap(({ addresses }) => addresses.map(({ address }) => formatNetAddress(address)));
  }

  /** Removes the node's own address, which each peer receives first, and advances the time until all pending messages are sent. */
  function settle(...peers: FakePeer[]): void {
    for (const peer of peers) reported(peer);
    clock.advance(600);
  }

  describe('that peers report', () => {
    it('are added to the book, two hours older', async () => {
      const peer = host.connect({ kind: 'inbound' });
      await tell(peer, [entry(1, 1000), entry(2)]);
      expect(added).toHaveLength(1);
      expect(added[0]).toMatchObject({ source: peer.remote, penaltySec: 7200 });
      expect(added[0]!.entries).toEqual([entry(1, 1000), entry(2)]);
    });

    it('count as five days old if their time is impossible', async () => {
      const peer = host.connect({ kind: 'inbound' });
      const [never, ahead, nearly] = [entry(1), entry(2, -601), entry(3, -600)];
      await tell(peer, [{ ...never, timeSec: 100_000_000 }, ahead, nearly]);
      const ages = added[0]!.entries.map(({ timeSec }) => clock.nowSec() - timeSec);
      expect(ages).toEqual([5 * 86_400, 5 * 86_400, -600]);
    });

    it('are ignored if they offer no chain, or are in excluded networks', async () => {
      const peer = host.connect({ kind: 'inbound' });
      limited.add(formatNetAddress(at(3)));
      await tell(peer, [
        entry(1, 0, NODE.bloom),
        entry(2, 0, NODE.networkLimited),
        entry(3),
        entry(4, 0, 0n),
      ]);
      expect(added[0]!.entries).toEqual([entry(2, 0, NODE.networkLimited)]);
    });

    it('cost 20 points if they are more than a thousand', async () => {
      const peer = host.connect({ kind: 'inbound' });
      await tell(peer, entries(MAX_ADDRESSES));
      expect(peer.score).toBe(0);
      await tell(peer, entries(MAX_ADDRESSES + 1));
      expect(peer.punishments).toEqual(['20 message addr size() = 1001']);
      expect(added).toHaveLength(1);
    });

    it('end a connection made for them', async () => {
      const peer = host.connect({ kind: 'oneShot' });
      expect(peer.take('getaddr')).toHaveLength(1);
      await tell(peer, entries(3));
      expect(peer.isGone).toBe(true);
      expect(added).toHaveLength(1);
    });
  });

  describe('that are new', () => {
    /** For each address, the number of other peers that received it. */
    async function spread(from: FakePeer, others: FakePeer[], addresses: AddressEntry[]): Promise<number[]> {
      settle(from, ...others);
      const fresh = addresses.map((one) => ({ ...one, timeSec: one.timeSec + 600 }));
      for (let i = 0; i < fresh.length; i += 10) await tell(from, fresh.slice(i, i + 10));
      const received = others.flatMap(reported);
      return addresses.map(
        ({ address }) => received.filter((text) => text === formatNetAddress(address)).length,
      );
    }

    function crowd(): { from: FakePeer; others: FakePeer[] } {
      const from = host.connect({ kind: 'inbound' });
      return { from, others: Array.from({ length: 30 }, () => host.connect({ kind: 'inbound' })) };
    }

    it('are forwarded to two peers, or to one if they are unreachable for us', async () => {
      const { from, others } = crowd();
      limited.add(formatNetAddress(at(0)));
      const counts = await spread(from, others, entries(40));
      expect(counts[0]).toBeLessThanOrEqual(1);
      const rest = counts.slice(1);
      // One of the two selected peers may be the sender.
      expect(Math.max(...rest)).toBe(2);
      expect(Math.min(...rest)).toBeGreaterThanOrEqual(1);
      expect(rest.filter((count) => count === 2).length).toBeGreaterThan(30);
    });

    it('go to the same peers all day, and to others the next day', async () => {
      const { from, others } = crowd();
      const targets = async (): Promise<Set<number>> => {
        // New sets of known addresses each time, because known addresses are not sent again.
        settle(from, ...others);
        await tell(from, [entry(5)]);
        const received = others.filter((peer) => reported(peer).length > 0);
        return new Set(received.map((peer) => others.indexOf(peer)));
      };
      const first = await targets();
      expect(first.size).toBeGreaterThan(0);
      // The same peers are selected on the same day, and they already know the address.
      expect(await targets()).toEqual(new Set());
      let later = new Set<number>();
      for (let day = 0; day < 5 && later.size === 0; day++) {
        clock.advance(86_400);
        later = await targets();
      }
      expect(later.size).toBeGreaterThan(0);
      for (const peer of later) expect(first.has(peer)).toBe(false);
    });

    it('are distributed evenly and unpredictably', async () => {
      const { from, others } = crowd();
      settle(from, ...others);
      const loads = new Map<FakePeer, number>();
      for (let i = 0; i < 600; i += 10) {
        await tell(
          from,
          Array.from({ length: 10 }, (_, n) => entry(i + n)),
        );
      }
      clock.advance(600);
      for (const peer of others) loads.set(peer, reported(peer).length);
      expect(Math.min(...loads.values())).toBeGreaterThan(15);
      expect(Math.max(...loads.values())).toBeLessThan(75);
    });

    it('are not forwarded if they are old, many, unroutable or the answer to a request', async () => {
      const others = Array.from({ length: 5 }, () => host.connect({ kind: 'inbound' }));
      const asked = host.connect({ kind: 'outbound' });
      const from = host.connect({ kind: 'inbound' });
      const received = (): number => {
        clock.advance(600);
        return [...others, asked, from].flatMap(reported).length;
      };
      settle(from, asked, ...others);
      await tell(from, [entry(1, 600)]);
      await tell(
        from,
        Array.from({ length: 11 }, (_, i) => entry(10 + i)),
      );
      const local = { ...entry(2), address: parseNetAddress('192.168.1.1:9246', 0)! };
      await tell(from, [local]);
      // An answer may come in pieces of a thousand.
      await tell(asked, entries(MAX_ADDRESSES));
      await tell(asked, [entry(3000)]);
      expect(received()).toBe(0);
      await tell(asked, [entry(3001)]);
      expect(received()).toBeGreaterThan(0);
      await tell(from, [entry(4, 599)]);
      expect(received()).toBeGreaterThan(0);
    });
  });

  describe('that peers request', () => {
    it('are sent once, to inbound peers only', async () => {
      bookEntries = entries(50);
      const inbound = host.connect({ kind: 'inbound' });
      settle(inbound);
      await host.deliver(inbound, 'getaddr', null);
      expect(reported(inbound)).toHaveLength(50);
      bookEntries = Array.from({ length: 10 }, (_, i) => entry(100 + i));
      await host.deliver(inbound, 'getaddr', null);
      clock.advance(600);
      expect(reported(inbound)).toEqual([]);
      for (const kind of ['outbound', 'manual', 'oneShot'] as const) {
        const peer = host.connect({ kind });
        settle(peer);
        await host.deliver(peer, 'getaddr', null);
        expect(reported(peer)).toEqual([]);
      }
    });

    it('are at most a thousand, selected at random', async () => {
      bookEntries = entries(2500);
      const peer = host.connect({ kind: 'inbound' });
      settle(peer);
      await host.deliver(peer, 'getaddr', null);
      const all = reported(peer);
      expect(all).toHaveLength(1000);
      expect(new Set(all).size).toBe(1000);
      const late = bookEntries.slice(1000).map(({ address }) => formatNetAddress(address));
      expect(late.filter((text) => all.includes(text)).length).toBeGreaterThan(500);
    });

    it('omit addresses from the same peer', async () => {
      bookEntries = entries(20);
      const peer = host.connect({ kind: 'inbound' });
      settle(peer);
      await tell(peer, bookEntries.slice(0, 15));
      await host.deliver(peer, 'getaddr', null);
      expect(reported(peer)).toEqual(bookEntries.slice(15).map(({ address }) => formatNetAddress(address)));
    });

    it('are requested from outbound peers, not from others', () => {
      const asked = (['inbound', 'outbound', 'manual', 'oneShot'] as const).map(
        (kind) => host.connect({ kind }).take('getaddr').length,
      );
      expect(asked).toEqual([0, 1, 1, 1]);
    });
  });

  describe('of our own', () => {
    it('are announced at once, to inbound peers as they see us', () => {
      const outbound = host.connect({ kind: 'outbound' });
      const inbound = host.connect({ kind: 'inbound' });
      expect(reported(inbound)).toEqual(['7.7.7.7:9246']);
      expect(reported(outbound)).toEqual(['7.7.7.7:9246']);
      own = OWN;
      const other = host.connect({ kind: 'outbound' });
      host.tick(clock.ms, other);
      const [message] = other.take('addr');
      expect(message!.addresses[0]).toEqual({ address: OWN, services: SERVICES, timeSec: clock.nowSec() });
    });

    it('are announced again after a change, once a day on average', () => {
      const peer = host.connect({ kind: 'inbound' });
      reported(peer);
      let hours = 0;
      for (let change = 0; change < 60; change++) {
        own = parseNetAddress(`9.9.1.${change + 1}:9246`, 0)!;
        while (reported(peer).length === 0) {
          clock.advance(3600);
          hours++;
        }
      }
      expect(hours / 60).toBeGreaterThan(17);
      expect(hours / 60).toBeLessThan(33);
    });

    it('are not announced before the chain is in sync', () => {
      behind = true;
      own = OWN;
      const peer = host.connect({ kind: 'outbound' });
      expect(reported(peer)).toEqual([]);
      clock.advance(600);
      behind = false;
      expect(reported(peer)).toEqual(['9.9.9.9:9246']);
    });
  });

  it('are delayed by half a minute on average', async () => {
    const peer = host.connect({ kind: 'inbound' });
    const from = host.connect({ kind: 'inbound' });
    settle(peer, from);
    let waited = 0;
    for (let i = 0; i < 100; i++) {
      await tell(from, [entry(i)]);
      for (let received = reported(peer); received.length === 0; received = reported(peer)) {
        clock.advance(1);
        waited++;
      }
    }
    expect(waited / 100).toBeGreaterThan(22);
    expect(waited / 100).toBeLessThan(40);
  });

  it('are not reserved for disconnected peers', async () => {
    const from = host.connect({ kind: 'inbound' });
    const stays = host.connect({ kind: 'inbound' });
    for (let i = 0; i < 30; i++) host.connect({ kind: 'inbound' }).disconnect('done');
    settle(from, stays);
    for (let i = 0; i < 10; i++) await tell(from, [entry(i)]);
    expect(reported(stays)).toHaveLength(10);
  });
});
