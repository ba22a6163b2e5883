import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FakePeer } from '../../../support/fakePeer.js';
import { INV } from '../../../../src/net/inventory.js';
import { headerHash } from '../../../../src/primitives/header.js';
import { headerOf, headersOf, itemsOf, makeBlock, mineHeaders, NO_STOP, SyncWorld } from './support.js';

const MINUTE_MS = 60_000;
const DAY_SEC = 24 * 60 * 60;

describe('headers', () => {
  let world: SyncWorld;
  let source: SyncWorld;
  beforeAll(async () => {
    source = await SyncWorld.open();
    await source.mine(25);
  });
  afterAll(() => source.close());
  beforeEach(async () => {
    world = await SyncWorld.open();
  });
  afterEach(() => world.close());
  const deliver = async (peer: FakePeer, from: number, to: number): Promise<void> => {
    await world.handle(peer, 'headers', { headers: await headersOf(source.world, from, to) });
  };
  const hashOf = async (height: number): Promise<Buffer> => (await source.world.blockAt(height)).hash;

  describe('that do not connect', () => {
    it('cause a request, and cost twenty points every tenth time', async () => {
      const peer = world.connectQuiet();
      for (let i = 0; i < 9; i++) await deliver(peer, 20, 22);
      expect(peer.take('getheaders')).toHaveLength(9);
      expect(peer.punishments).toEqual([]);
      await deliver(peer, 20, 22);
      expect(peer.punishments).toEqual(['20 headers that do not connect']);
    });

    it('are forgotten when the next ones connect', async () => {
      const peer = world.connectQuiet();
      for (let i = 0; i < 9; i++) await deliver(peer, 20, 22);
      await deliver(peer, 1, 5);
      for (let i = 0; i < 9; i++) await deliver(peer, 20, 22);
      expect(peer.punishments).toEqual([]);
    });

    it('update the best block of the peer once they connect through another', async () => {
      const [first, second] = [world.connectQuiet(), world.connectQuiet()];
      await deliver(first, 25, 25);
      await deliver(second, 1, 25);
      world.tick(first);
      expect(world.host.describe(first)).toMatchObject({ syncedHeaders: 25 });
    });

    it('are invalid if they are too many for an announcement', async () => {
      const peer = world.connectQuiet();
      await deliver(peer, 10, 17);
      expect(peer.punishments).toEqual(['10 invalid header received']);
    });
  });

  it('cost twenty points if they do not follow one another', async () => {
    const peer = world.connectQuiet();
    const headers = [...(await headersOf(source.world, 1, 3)), ...(await headersOf(source.world, 5, 6))];
    await world.handle(peer, 'headers', { headers });
    expect(peer.punishments).toEqual(['20 non-continuous headers sequence']);
    expect(world.chain.index.headers.count).toBe(1);
  });

  it('cost twenty points if they are more than two thousand', async () => {
    const peer = world.connectQuiet();
    await world.handle(peer, 'headers', { headers: [], tooMany: 2001 });
    expect(peer.punishments).toEqual(['20 headers message size = 2001']);
  });

  it('cost the score of the verdict if they are invalid', async () => {
    const peer = world.connectQuiet();
    const headers: Buffer[] = await headersOf(source.world, 1, 3);
    // The bits of the header require more work than it has.
    headers[2] = Buffer.from(headers[2]!);
    headers[2].writeUInt32LE(0x1d00ffff, 104);
    await world.handle(peer, 'headers', { headers });
    expect(peer.punishments).toEqual(['50 invalid header received']);
    // Earlier headers of the message are not stored either, because their work may not count without the invalid header.
    expect(world.chain.index.headers.count).toBe(1);
    expect(peer.isGone).toBe(false);
  });

  it('cost nothing if their time is in the future', async () => {
    source.world.timeSec += 3 * 60 * 60;
    const block = await makeBlock(source.world);
    source.world.timeSec -= 3 * 60 * 60;
    const peer = world.connectQuiet();
    await deliver(peer, 1, 25);
    await world.handle(peer, 'headers', { headers: [headerOf(block)] });
    expect(peer.punishments).toEqual([]);
    expect(peer.isGone).toBe(false);
  });

  it.each([
    ['outbound', true],
    ['inbound', false],
    ['manual', false],
  ] as const)('of a block known to be invalid: an %s peer is disconnected: %s', async (kind, isSentAway) => {
    const peer = world.connectQuiet({ kind });
    await deliver(peer, 1, 5);
    const { index } = world.chain;
    index.markFailed(index.headers.find(await hashOf(5)));
    await deliver(peer, 5, 5);
    expect(peer.isGone).toBe(isSentAway);
    expect(peer.punishments).toEqual([]);
  });

  it('that build on an invalid block ban the peer', async () => {
    const peer = world.connectQuiet({ kind: 'inbound' });
    await deliver(peer, 1, 5);
    const { index } = world.chain;
    index.markFailed(index.headers.find(await hashOf(5)));
    await deliver(peer, 6, 7);
    expect(peer.punishments).toEqual(['100 invalid header received']);
  });

  it('are requested repeatedly while messages are full', async () => {
    const peer = world.connectQuiet();
    const headers = await mineHeaders(source, 2003);
    await world.deliver(peer, 'headers', { headers: headers.slice(0, 2000) });
    const [ask, ...more] = peer.take('getheaders');
    expect(more).toEqual([]);
    expect(ask!.locator[0]).toEqual(headerHash(headers[1999]!));
    // headerChain.test.ts checks the number and the choice of the hashes in a locator.
    expect(ask!.locator).toHaveLength(22);
    await world.deliver(peer, 'headers', { headers: headers.slice(2000) });
    expect(peer.take('getheaders')).toEqual([]);
    expect(world.host.describe(peer)).toMatchObject({ syncedHeaders: 2003 });
  });

  it('are requested if a block is announced by its id', async () => {
    const peer = world.connectQuiet();
    await deliver(peer, 1, 10);
    peer.sent.length = 0;
    const hashes: Buffer[] = [await hashOf(5), Buffer.alloc(32, 11), Buffer.alloc(32, 12)];
    const items = hashes.map((hash) => ({ type: INV.block, hash }));
    await world.handle(peer, 'inv', { items });
    const [ask, ...more] = peer.take('getheaders');
    expect(more).toEqual([]);
    expect(ask!.locator[0]).toEqual(await hashOf(10));
    expect(ask!.stopHash).toEqual(Buffer.alloc(32, 12));
    await world.handle(peer, 'inv', { items: [{ type: INV.block, hash: await hashOf(7) }] });
    expect(peer.sent).toEqual([]);
  });

  it('are requested from one more peer for each new block while they are far behind, from each only once', async () => {
    const peers = [world.connectQuiet(), world.connectQuiet(), world.connectQuiet()];
    const announce = async (hash: Buffer): Promise<number[]> => {
      const items = [{ type: INV.block, hash }];
      for (const peer of peers) await world.handle(peer, 'inv', { items });
      return peers.map((peer) => peer.take('getheaders').length);
    };
    world.world.timeSec += 10 * DAY_SEC;
    // The first is the one that sends all headers.
    world.tick(peers[0]!);
    peers[0]!.sent.length = 0;
    expect(await announce(Buffer.alloc(32, 1))).toEqual([1, 1, 0]);
    expect(await announce(Buffer.alloc(32, 2))).toEqual([1, 0, 1]);
    expect(await announce(Buffer.alloc(32, 3))).toEqual([1, 0, 0]);
  });

  it('are not requested after an announcement of too many', async () => {
    const peer = world.connectQuiet();
    const items = Array.from({ length: 50_001 }, () => ({ type: INV.block, hash: Buffer.alloc(32, 1) }));
    await world.handle(peer, 'inv', { items });
    expect(peer.punishments).toEqual(['20 message inv size() = 50001']);
    expect(peer.sent).toEqual([]);
  });

  it('are ignored while blocks are imported', async () => {
    const peer = world.connectQuiet();
    world.chain.importing = true;
    world.tick(peer);
    await deliver(peer, 1, 5);
    await world.handle(peer, 'inv', { items: [{ type: INV.block, hash: await hashOf(7) }] });
    world.chain.importing = false;
    expect(peer.sent).toEqual([]);
    expect(world.chain.index.headers.count).toBe(1);
  });

  it('of few new blocks near the tip cause a request for the blocks at once', async () => {
    await world.copyFrom(source.world, 1, 20);
    const peer = world.connectQuiet();
    await deliver(peer, 21, 23);
    const asked = peer.take('getdata').flatMap(itemsOf);
    expect(asked).toEqual(
      await Promise.all(
        [21, 22, 23].map(async (height) => `${INV.witnessBlock}:${(await hashOf(height)).toString('hex')}`),
      ),
    );
    // Requests only the two new blocks, because the others are already requested.
    await deliver(peer, 24, 25);
    expect(peer.take('getdata').flatMap(itemsOf)).toHaveLength(2);
  });

  it('of one new block cause a request in compact form if the peer has it', async () => {
    await world.copyFrom(source.world, 1, 20);
    const peer = world.connectQuiet();
    await world.deliver(peer, 'sendcmpct', { announce: false, version: 2n });
    await deliver(peer, 21, 21);
    expect(peer.take('getdata').flatMap(itemsOf)).toEqual([
      `${INV.compactBlock}:${(await hashOf(21)).toString('hex')}`,
    ]);
    // A third block is requested.
    await deliver(peer, 22, 22);
    expect(peer.take('getdata').flatMap(itemsOf)).toEqual([
      `${INV.witnessBlock}:${(await hashOf(22)).toString('hex')}`,
    ]);
  });

  describe('with too little work, during the initial download', () => {
    it.each([
      ['outbound', true],
      ['manual', false],
      ['inbound', false],
    ] as const)('disconnect an %s peer: %s', async (kind, isLost) => {
      await world.close();
      world = await SyncWorld.open({ sync: { minimumChainWork: 1n << 60n } });
      const peer = world.connectQuiet({ kind });
      await deliver(peer, 1, 25);
      expect(peer.isGone).toBe(isLost);
      expect(peer.punishments).toEqual([]);
    });
  });

  describe('that do not arrive', () => {
    it('disconnect the peer if there are others', async () => {
      const [slow, other] = [world.connectQuiet(), world.connectQuiet()];
      world.world.timeSec += 10 * DAY_SEC;
      const ageSec = world.world.timeSec - world.chain.index.headers.timeSec(0);
      world.tick(slow);
      const limitMs = 15 * MINUTE_MS + Math.trunc(ageSec / 150);
      world.nowMs += limitMs - 100;
      world.tick(slow, other);
      expect(slow.isGone).toBe(false);
      world.tick(slow, other);
      expect(slow.goneReason).toBe('timeout downloading headers');
      world.tick(other);
      expect(other.commands).toEqual(['getheaders']);
    });

    it('have no effect if there is no other peer', async () => {
      const [slow, inbound] = [world.connectQuiet(), world.connectQuiet({ kind: 'inbound' })];
      world.tick(slow, inbound);
      world.nowMs += 300 * MINUTE_MS;
      world.tick(slow, inbound);
      expect(slow.isGone).toBe(false);
    });

    it('are requested from another peer if the peer is whitelisted', async () => {
      const [slow, other] = [world.connectQuiet({ isWhitelisted: true }), world.connectQuiet()];
      world.tick(slow, other);
      expect(other.sent).toEqual([]);
      world.nowMs += 300 * MINUTE_MS;
      world.tick(slow);
      expect(slow.isGone).toBe(false);
      world.tick(other);
      expect(other.commands).toEqual(['getheaders']);
    });

    it('have no effect once the best header is from today', async () => {
      const [slow] = [world.connectQuiet(), world.connectQuiet()];
      world.tick(slow);
      await deliver(slow, 1, 25);
      world.tick(slow);
      world.world.timeSec += 2 * DAY_SEC;
      world.nowMs += 3000 * MINUTE_MS;
      slow.sent.length = 0;
      // Time limits of blocks are not tested here, so a disconnect because of them is ignored.
      slow.onGone = () => undefined;
      world.host.tick(world.nowMs, slow);
      expect(slow.goneReason).not.toBe('timeout downloading headers');
    });
  });

  it('are requested from all peers once the best one is from today', async () => {
    await world.copyFrom(source.world, 1, 25);
    const peers = [world.connectQuiet(), world.connectQuiet({ kind: 'inbound' })];
    world.tick(...peers);
    for (const peer of peers) {
      const [ask] = peer.take('getheaders');
      expect(ask!.locator[0]).toEqual(await hashOf(24));
      expect(ask!.stopHash).toEqual(NO_STOP);
    }
  });

  it('are not requested from peers that offer no blocks', async () => {
    const client = world.connectQuiet({ services: 4n });
    world.tick(client);
    expect(client.sent).toEqual([]);
  });

  it('are requested from inbound peers only if there are no better ones', async () => {
    const inbound = world.connectQuiet({ kind: 'inbound' });
    const outbound = world.connectQuiet();
    world.tick(inbound);
    expect(inbound.sent).toEqual([]);
    outbound.disconnect('test');
    world.tick(inbound);
    expect(inbound.commands).toEqual(['getheaders']);
  });
});
