import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FakePeer } from '../../../support/fakePeer.js';
import { headersOf, SPACING_SEC, SyncWorld } from './support.js';

const MINUTE_SEC = 60;

describe('outbound peers', () => {
  let world: SyncWorld;
  let source: SyncWorld;
  beforeAll(async () => {
    source = await SyncWorld.open();
    await source.mine(20);
  });
  afterAll(() => source.close());
  beforeEach(async () => {
    world = await SyncWorld.open();
    await world.copyFrom(source.world, 1, 10);
  });
  afterEach(() => world.close());
  const deliver = async (peer: FakePeer, from: number, to: number): Promise<void> => {
    await world.handle(peer, 'headers', { headers: await headersOf(source.world, from, to) });
  };
  const pass = (sec: number, ...peers: FakePeer[]): void => {
    world.world.timeSec += sec;
    world.tick(...peers);
  };

  describe('with a chain that stays behind', () => {
    it('are asked again after twenty minutes, and then have two minutes', async () => {
      const peer = world.connectQuiet();
      world.tick(peer);
      await deliver(peer, 1, 5);
      peer.sent.length = 0;
      pass(20 * MINUTE_SEC, peer);
      expect(peer.sent).toEqual([]);
      pass(1, peer);
      const [ask] = peer.take('getheaders');
      expect(ask!.locator[0]).toEqual((await source.world.blockAt(9)).hash);
      pass(2 * MINUTE_SEC, peer);
      expect(peer.isGone).toBe(false);
      pass(1, peer);
      expect(peer.goneReason).toBe('old chain');
    });

    it('stay if they catch up', async () => {
      const peer = world.connectQuiet();
      world.tick(peer);
      pass(20 * MINUTE_SEC + 1, peer);
      await deliver(peer, 8, 10);
      pass(2 * MINUTE_SEC + 1, peer);
      pass(20 * MINUTE_SEC, peer);
      pass(2 * MINUTE_SEC + 1, peer);
      expect(peer.isGone).toBe(false);
    });

    it('have twenty minutes more if they reach the tip of that time', async () => {
      // Four other peers are protected, so this peer is not.
      const others = Array.from({ length: 4 }, () => world.connectQuiet());
      for (const other of others) await deliver(other, 8, 10);
      const peer = world.connectQuiet();
      world.tick(peer);
      await world.copyFrom(source.world, 11, 12);
      pass(20 * MINUTE_SEC, peer);
      await deliver(peer, 8, 10);
      pass(1, peer);
      expect(peer.take('getheaders')).toHaveLength(1);
      pass(20 * MINUTE_SEC, peer);
      expect(peer.take('getheaders')).toEqual([]);
      pass(1, peer);
      expect(peer.take('getheaders')).toHaveLength(1);
    });

    it.each(['inbound', 'manual', 'feeler', 'oneShot'] as const)('stay if they are %s ones', async (kind) => {
      const peer = world.connectQuiet({ kind });
      world.tick(peer);
      pass(20 * MINUTE_SEC + 1, peer);
      pass(2 * MINUTE_SEC + 1, peer);
      pass(2 * MINUTE_SEC + 1, peer);
      expect(peer.isGone).toBe(false);
    });

    it('stay, up to four, if they once were in sync', async () => {
      const peers = Array.from({ length: 5 }, () => world.connectQuiet());
      world.tick(...peers);
      for (const peer of peers) await deliver(peer, 8, 10);
      await world.copyFrom(source.world, 11, 11);
      pass(0, ...peers);
      pass(20 * MINUTE_SEC + 1, ...peers);
      pass(2 * MINUTE_SEC + 1, ...peers);
      expect(peers.map(({ isGone }) => isGone)).toEqual([false, false, false, false, true]);
      // A place is free again.
      peers[0]!.disconnect('test');
      const next = world.connectQuiet();
      world.tick(next);
      await deliver(next, 8, 11);
      await world.copyFrom(source.world, 12, 12);
      pass(0, next);
      pass(20 * MINUTE_SEC + 1, next);
      pass(2 * MINUTE_SEC + 1, next);
      expect(next.isGone).toBe(false);
    });
  });

  describe('beyond the usual number', () => {
    it('are allowed if no block arrived for three target spacings', async () => {
      const { staleTips } = world.sync;
      expect(staleTips.wantsExtraOutbound()).toBe(false);
      world.world.timeSec += 3 * SPACING_SEC + 1;
      // The check runs only every ten minutes.
      expect(staleTips.wantsExtraOutbound()).toBe(false);
      world.world.timeSec += 10 * MINUTE_SEC;
      expect(staleTips.wantsExtraOutbound()).toBe(true);
      await world.copyFrom(source.world, 11, 11);
      expect(staleTips.wantsExtraOutbound()).toBe(true);
      world.world.timeSec += 10 * MINUTE_SEC + 1;
      await world.copyFrom(source.world, 12, 12);
      expect(staleTips.wantsExtraOutbound()).toBe(false);
    });

    it('are not allowed while a block is being downloaded', async () => {
      const { staleTips } = world.sync;
      const peer = world.connectQuiet();
      await deliver(peer, 11, 11);
      expect(peer.take('getdata')).toHaveLength(1);
      world.world.timeSec += 10 * MINUTE_SEC;
      expect(staleTips.wantsExtraOutbound()).toBe(false);
    });
  });

  describe('above the limit', () => {
    const connectOld = (): FakePeer => world.connectQuiet({ connectedAtSec: world.world.timeSec - 31 });

    it('lose the one that announced a better block longest ago, and the youngest of equals', async () => {
      const { staleTips } = world.sync;
      const [first, second, third] = [connectOld(), connectOld(), connectOld()];
      expect(staleTips.peersToEvict(0)).toEqual([]);
      expect(staleTips.peersToEvict(1)).toEqual([third]);
      await world.deliver(third, 'headers', { headers: await headersOf(source.world, 11, 11) });
      expect(staleTips.peersToEvict(1)).toEqual([second]);
      second.disconnect('test');
      expect(staleTips.peersToEvict(2)).toEqual([first]);
    });

    it('keep one that is young or owes a block, and those of others', async () => {
      const { staleTips } = world.sync;
      world.connectQuiet({ kind: 'inbound' });
      world.connectQuiet({ kind: 'manual' });
      expect(staleTips.peersToEvict(1)).toEqual([]);
      const young = world.connectQuiet({ connectedAtSec: world.world.timeSec - 30 });
      expect(staleTips.peersToEvict(1)).toEqual([]);
      world.world.timeSec += 1;
      expect(staleTips.peersToEvict(1)).toEqual([young]);
      world.sync.inFlight.request(young, 5);
      expect(staleTips.peersToEvict(1)).toEqual([]);
    });

    it('keep the protected ones, and end the search for more', async () => {
      const { staleTips } = world.sync;
      world.world.timeSec += 3 * SPACING_SEC + 1;
      world.world.timeSec += 10 * MINUTE_SEC;
      expect(staleTips.wantsExtraOutbound()).toBe(true);
      const [inStep, other] = [connectOld(), connectOld()];
      await deliver(inStep, 8, 10);
      await deliver(other, 1, 5);
      expect(staleTips.peersToEvict(1)).toEqual([other]);
      expect(staleTips.wantsExtraOutbound()).toBe(false);
      other.disconnect('test');
      expect(staleTips.peersToEvict(1)).toEqual([]);
    });
  });
});
