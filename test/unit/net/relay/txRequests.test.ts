import { beforeEach, describe, expect, it } from 'vitest';
import { INV, MAX_INV_ITEMS, type InvItem } from '../../../../src/net/inventory.js';
import { NODE } from '../../../../src/net/services.js';
import type { RelayOptions } from '../../../../src/net/relay/relayOptions.js';
import { TxRequests } from '../../../../src/net/relay/txRequests.js';
import { toLatin1, type Bytes } from '../../../../src/util/bytes.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { PartHost, type FakePeer } from '../../../support/fakePeer.js';
import { BLOCKS_ONLY, numberedHash, RELAY, TestClock } from './support.js';

const hash = numberedHash(1);

function items(from: number, count: number, type: number = INV.tx): InvItem[] {
  return Array.from({ length: count }, (_, i) => ({ type, hash: numberedHash(from + i) }));
}

describe('requests for transactions', () => {
  const clock = new TestClock();
  const have = new Set<string>();
  const chain = { importing: false, isInitialDownload: () => initialDownload };
  let initialDownload = false;
  let reported: string[];
  let requests: TxRequests;
  let host: PartHost;

  function make(options: RelayOptions = RELAY): void {
    requests = new TxRequests(options, {
      chain,
      known: { alreadyHave: (id: Bytes) => have.has(toLatin1(id)) },
      announcer: { noteKnown: (peer, id) => void reported.push(`${peer.id} ${toLatin1(id)}`) },
      localServices: () => NODE.network | NODE.witness,
      nowMs: clock.nowMs,
      log: SILENT_LOGGER,
    });
    host = new PartHost([requests]);
  }

  beforeEach(() => {
    have.clear();
    chain.importing = false;
    initialDownload = false;
    reported = [];
    make();
  });

  /** Ticks the peers. Returns the number of items that were requested from each. */
  function asked(...peers: FakePeer[]): number[] {
    host.tick(clock.ms, ...peers);
    return peers.map((peer) => peer.take('getdata').reduce((sum, { items: all }) => sum + all.length, 0));
  }

  async function announce(peer: FakePeer, all: readonly InvItem[]): Promise<void> {
    await host.deliver(peer, 'inv', { items: all });
  }

  it('go to the first announcing peer at once, to each other one two minutes later', async () => {
    const [first, second, third] = [host.connect(), host.connect(), host.connect()];
    for (const peer of [first, second, third]) await announce(peer, [{ type: INV.tx, hash }]);
    expect(reported).toEqual([first, second, third].map(({ id }) => `${id} ${toLatin1(hash)}`));
    expect(asked(first, second, third)).toEqual([1, 0, 0]);
    clock.advance(118.9);
    expect(asked(first, second, third)).toEqual([0, 0, 0]);
    clock.advance(0.1);
    expect(asked(first, second, third)).toEqual([0, 1, 0]);
    clock.advance(119.9);
    expect(asked(first, second, third)).toEqual([0, 0, 0]);
    clock.advance(0.1);
    expect(asked(first, second, third)).toEqual([0, 0, 1]);
  });

  it('are not repeated once the transaction has arrived, and are sent at once if it is needed again', async () => {
    const [first, second] = [host.connect(), host.connect()];
    await announce(first, [{ type: INV.tx, hash }]);
    await announce(second, [{ type: INV.tx, hash }]);
    expect(asked(first, second)).toEqual([1, 0]);
    requests.noteReceived(first, hash);
    have.add(toLatin1(hash));
    clock.advance(600);
    expect(asked(first, second)).toEqual([0, 0]);
    have.clear();
    await announce(second, [{ type: INV.tx, hash }]);
    expect(asked(second)).toEqual([1]);
  });

  it('go to one peer once for a transaction, until it arrives or the peer does not have it', async () => {
    const peer = host.connect();
    await announce(peer, items(0, 3));
    expect(asked(peer)).toEqual([3]);
    await announce(peer, items(0, 3));
    clock.advance(600);
    expect(asked(peer)).toEqual([0]);
    await host.deliver(peer, 'notfound', { items: items(1, 1) });
    await announce(peer, items(0, 3));
    clock.advance(600);
    host.tick(clock.ms, peer);
    expect(peer.take('getdata')).toEqual([{ items: items(1, 1, INV.witnessTx) }]);
  });

  it('ask for witnesses if both sides support them', async () => {
    const plain = host.connect({ services: NODE.network | NODE.bloom });
    const modern = host.connect();
    await announce(plain, items(0, 1));
    await announce(modern, items(1, 1));
    host.tick(clock.ms, plain, modern);
    expect(plain.take('getdata')).toEqual([{ items: items(0, 1, INV.tx) }]);
    expect(modern.take('getdata')).toEqual([{ items: items(1, 1, INV.witnessTx) }]);
  });

  it('are sent in batches of a thousand, in the order of the announcements, up to the end of a turn', async () => {
    const peer = host.connect();
    await announce(peer, items(0, 7500));
    host.tick(clock.ms, peer);
    const sent = peer.take('getdata');
    expect(sent.map(({ items: all }) => all.length)).toEqual([1000, 1000, 1000, 1000, 1000]);
    const order = sent.flatMap(({ items: all }) => all).map((item) => item.hash.readUInt32BE(0));
    expect(order).toEqual(Array.from({ length: 5000 }, (_, i) => i));
    host.tick(clock.ms, peer);
    expect(peer.take('getdata').map(({ items: all }) => all.length)).toEqual([1000, 1000, 500]);
  });

  it('wait while the peer does not read', async () => {
    const peer = host.connect();
    await announce(peer, items(0, 10));
    peer.isSendFull = true;
    requests.onTick(peer, clock.ms);
    expect(peer.sent).toEqual([]);
    peer.isSendFull = false;
    expect(asked(peer)).toEqual([10]);
  });

  it('omit known transactions, blocks, and unknown types', async () => {
    const peer = host.connect();
    have.add(toLatin1(numberedHash(0)));
    await announce(peer, [
      ...items(0, 2),
      ...items(2, 1, INV.block),
      ...items(3, 1, 77),
      ...items(4, 1, INV.witnessTx),
    ]);
    host.tick(clock.ms, peer);
    expect(peer.take('getdata')).toEqual([
      { items: [...items(1, 1, INV.witnessTx), ...items(4, 1, INV.witnessTx)] },
    ]);
    expect(reported).toHaveLength(3);
  });

  it('are not sent while the chain is behind or blocks are read from files', async () => {
    const peer = host.connect();
    initialDownload = true;
    await announce(peer, items(0, 1));
    initialDownload = false;
    chain.importing = true;
    await announce(peer, items(1, 1));
    expect(asked(peer)).toEqual([0]);
    chain.importing = false;
    await announce(peer, items(2, 1));
    expect(asked(peer)).toEqual([1]);
  });

  it('are sent with -blocksonly to whitelisted peers only, and with -whitelistrelay=0 to no peer', async () => {
    make(BLOCKS_ONLY);
    const [stranger, friend] = [host.connect(), host.connect({ isWhitelisted: true })];
    await announce(stranger, items(0, 1));
    await announce(friend, items(1, 1));
    expect(asked(stranger, friend)).toEqual([0, 1]);
    make({ ...BLOCKS_ONLY, whitelistRelay: false });
    const other = host.connect({ isWhitelisted: true });
    await announce(other, items(2, 1));
    expect(asked(other)).toEqual([0]);
  });

  describe('in a flood', () => {
    it('are limited for each peer', async () => {
      const peer = host.connect();
      await announce(peer, items(0, MAX_INV_ITEMS));
      await announce(peer, items(MAX_INV_ITEMS, MAX_INV_ITEMS));
      expect(requests.sizes).toEqual({ asked: MAX_INV_ITEMS, times: MAX_INV_ITEMS });
      for (let turn = 0; turn < 10; turn++) asked(peer);
      await announce(peer, items(MAX_INV_ITEMS, MAX_INV_ITEMS));
      await announce(peer, items(2 * MAX_INV_ITEMS, MAX_INV_ITEMS));
      expect(requests.sizes).toEqual({ asked: 2 * MAX_INV_ITEMS, times: MAX_INV_ITEMS });
      for (let turn = 0; turn < 10; turn++) asked(peer);
      await announce(peer, items(2 * MAX_INV_ITEMS, 100));
      expect(asked(peer)).toEqual([0]);
      await host.deliver(peer, 'notfound', { items: items(0, 40) });
      await announce(peer, items(2 * MAX_INV_ITEMS, 100));
      expect(asked(peer)).toEqual([40]);
      peer.disconnect('done');
      expect(requests.sizes.asked).toBe(0);
      expect(requests.sizes.times).toBeLessThanOrEqual(MAX_INV_ITEMS);
    });

    it('do not grow through returned requests', async () => {
      const [first, second] = [host.connect(), host.connect()];
      await announce(first, items(0, 1));
      for (let round = 0; round < 20; round++) {
        await announce(second, items(0, 1));
        await host.deliver(second, 'notfound', { items: items(0, 1) });
        expect(requests.sizes.asked).toBe(2);
      }
      clock.advance(6000);
      expect(asked(second)).toEqual([1]);
    });

    it('are shared among many peers', async () => {
      const peers = Array.from({ length: 7 }, () => host.connect());
      const txid = numberedHash(0);
      for (const [i, peer] of peers.entries()) {
        for (let n = 0; n < MAX_INV_ITEMS; n++) {
          txid.writeUInt32BE(i * MAX_INV_ITEMS + n);
          requests.request(peer, txid);
        }
      }
      // Five peers reach the total limit. The others are limited to a seventh of it each.
      expect(requests.sizes.asked).toBe(250_000 + 2 * Math.ceil(250_000 / 7));
      for (const peer of peers) peer.disconnect('done');
      expect(requests.sizes.asked).toBe(0);
    });

    it('ignore a message that is too long', async () => {
      const peer = host.connect();
      await announce(peer, items(0, MAX_INV_ITEMS + 1));
      expect(requests.sizes.asked).toBe(0);
      expect(reported).toEqual([]);
    });
  });
});
