import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FakePeer } from '../../../support/fakePeer.js';
import { headersOf, itemsOf, SPACING_SEC, SyncWorld } from './support.js';

describe('block downloads', () => {
  let world: SyncWorld;
  let source: SyncWorld;
  beforeEach(async () => {
    world = await SyncWorld.open({ sync: { downloadWindow: 20 } });
    source = await SyncWorld.open();
    await source.mine(40);
  });
  afterEach(async () => {
    await world.close();
    await source.close();
  });

  const announceAll = async (...peers: FakePeer[]): Promise<void> => {
    const headers = await headersOf(source.world, 1, 40);
    for (const peer of peers) await world.deliver(peer, 'headers', { headers });
  };
  const bring = async (peer: FakePeer, height: number): Promise<void> => {
    await world.handle(peer, 'block', { raw: (await source.world.blockAt(height)).raw });
  };

  it('disconnect a peer that delays all others for two seconds', async () => {
    const [slow, quick] = [world.connectQuiet(), world.connectQuiet()];
    await announceAll(slow, quick);
    world.tick(slow, quick);
    // The window has twenty blocks: the slow peer has sixteen of them, the quick one four.
    expect(slow.take('getdata').flatMap(itemsOf)).toHaveLength(16);
    expect(quick.take('getdata').flatMap(itemsOf)).toHaveLength(4);
    for (let height = 17; height <= 20; height++) await bring(quick, height);
    world.tick(slow, quick);
    world.nowMs += 1800;
    world.tick(slow, quick);
    expect(slow.isGone).toBe(false);
    world.nowMs += 200;
    world.tick(slow, quick);
    expect(slow.goneReason).toContain('stalling');
    // The blocks that the disconnected peer did not send are requested from the other one.
    expect(quick.take('getdata').flatMap(itemsOf)).toHaveLength(16);
  });

  it('keep a peer that makes progress while others wait', async () => {
    const [slow, quick] = [world.connectQuiet(), world.connectQuiet()];
    await announceAll(slow, quick);
    world.tick(slow, quick);
    for (let height = 17; height <= 20; height++) await bring(quick, height);
    world.tick(slow, quick);
    world.nowMs += 1900;
    await bring(slow, 1);
    world.tick(quick, slow);
    world.nowMs += 1900;
    world.tick(slow, quick);
    expect(slow.isGone).toBe(false);
  });

  it('disconnect a peer whose block does not arrive within a target spacing', async () => {
    const peer = world.connectQuiet();
    await announceAll(peer);
    world.tick(peer);
    world.nowMs += SPACING_SEC * 1000;
    world.tick(peer);
    expect(peer.goneReason).toContain('Timeout downloading block');
  });

  it('count from the last received block, and allow more time while blocks arrive from others', async () => {
    const [peer, other] = [world.connectQuiet(), world.connectQuiet()];
    await announceAll(peer, other);
    world.tick(peer, other);
    world.nowMs += SPACING_SEC * 1000 - 1000;
    await bring(peer, 1);
    world.nowMs += SPACING_SEC * 1000 - 1000;
    world.tick(peer);
    expect(peer.isGone).toBe(false);
    // Half a block interval more because of the other peer, which does not send blocks either.
    world.nowMs += SPACING_SEC * 500;
    world.tick(peer);
    expect(peer.isGone).toBe(false);
    world.nowMs += 1000;
    world.tick(peer);
    expect(peer.isGone).toBe(true);
  });

  /** The peer is disconnected if its block does not arrive within one more block interval. */
  function expectGoneAfterSpacing(peer: FakePeer): void {
    world.nowMs += SPACING_SEC * 1000 - 1000;
    world.tick(peer);
    expect(peer.isGone).toBe(false);
    world.nowMs += 1000;
    world.tick(peer);
    expect(peer.isGone).toBe(true);
  }

  it('restart the time limits of a peer whose messages were delayed here', async () => {
    const peer = world.connectQuiet();
    await announceAll(peer);
    world.tick(peer);
    const { inFlight } = world.sync;
    let release = (): void => undefined;
    const held = inFlight.holding(peer, () => new Promise<void>((resolve) => (release = resolve)));
    world.nowMs += SPACING_SEC * 2000;
    world.tick(peer);
    expect(peer.isGone).toBe(false);
    release();
    await held;
    expectGoneAfterSpacing(peer);
  });

  it('do not count the time in which no messages were read', async () => {
    const peer = world.connectQuiet();
    await announceAll(peer);
    world.tick(peer);
    world.nowMs += SPACING_SEC * 3000;
    for (const part of world.sync.parts) part.onHeldUp?.(SPACING_SEC * 3000 - 500);
    expectGoneAfterSpacing(peer);
  });

  it('repeat the request for a block with bytes in another form', async () => {
    const peer = world.connectQuiet({ isWhitelisted: true });
    await announceAll(peer);
    world.tick(peer);
    const asked = peer.take('getdata').flatMap(itemsOf);
    const raw = Buffer.from((await source.world.blockAt(1)).raw);
    // Changes a byte of the coinbase, and so the merkle root.
    raw[raw.length - 1]! ^= 1;
    await world.handle(peer, 'block', { raw });
    expect(peer.punishments).toEqual(['100 bad-txnmrklroot']);
    world.tick(peer);
    expect(peer.take('getdata').flatMap(itemsOf)).toEqual([asked[0]]);
  });

  it('follow a peer to another branch', async () => {
    const fork = await SyncWorld.open();
    try {
      await fork.copyFrom(source.world, 1, 3);
      fork.world.timeSec += 100;
      await fork.mine(50);
      const peer = world.connectQuiet();
      await announceAll(peer);
      world.tick(peer);
      for (let height = 1; height <= 10; height++) await bring(peer, height);
      await world.deliver(peer, 'headers', { headers: await headersOf(fork.world, 4, 53) });
      for (let turn = 0; turn < 20 && world.height < 53; turn++) {
        world.tick(peer);
        for (const { items } of peer.take('getdata')) {
          for (const { hash } of items) {
            const id = fork.chain.index.headers.find(hash);
            const from = id < 0 ? source : fork;
            const block = await from.chain.readBlock(from.chain.index.headers.find(hash));
            await world.handle(peer, 'block', { raw: block.raw });
          }
        }
      }
      expect(world.tip).toBe(fork.tip);
    } finally {
      await fork.close();
    }
  });
});
