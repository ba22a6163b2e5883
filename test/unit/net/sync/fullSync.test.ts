import { afterEach, describe, expect, it } from 'vitest';
import { INV } from '../../../../src/net/inventory.js';
import { regtestWith } from '../../../../src/params/regtest.js';
import { headerHash } from '../../../../src/primitives/header.js';
import { headersOf, itemsOf, Link, mineHeaders, NO_STOP, SyncWorld } from './support.js';

describe('two nodes', () => {
  const worlds: SyncWorld[] = [];
  const open = async (...args: Parameters<typeof SyncWorld.open>): Promise<SyncWorld> => {
    const world = await SyncWorld.open(...args);
    worlds.push(world);
    return world;
  };
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.close();
  });

  it('bring an empty one to the tip of the other', async () => {
    const [empty, full] = [await open(), await open()];
    await full.mine(100);
    const link = new Link(empty, full);
    await link.run();
    expect(empty.height).toBe(100);
    expect(empty.tip).toBe(full.tip);
    expect(link.atA.punishments).toEqual([]);
    expect(link.atB.punishments).toEqual([]);
    expect(empty.host.describe(link.atA)).toEqual({
      syncedHeaders: 100,
      syncedBlocks: 100,
      inFlightHeights: [],
    });
  });

  it('reach the better of two branches', async () => {
    const [a, b] = [await open(), await open()];
    await a.mine(12);
    await b.copyFrom(a.world, 1, 5);
    b.world.timeSec += 100;
    await b.mine(20);
    const link = new Link(a, b, { atB: { kind: 'outbound' } });
    await link.run();
    expect([a.height, b.height]).toEqual([25, 25]);
    expect(a.tip).toBe(b.tip);
  });

  it('relay new blocks in compact form, unrequested', async () => {
    const [a, b] = [await open(), await open()];
    await a.mine(3);
    const link = new Link(b, a);
    await link.run();
    link.log.length = 0;
    await a.mine(1);
    await link.run();
    expect(b.tip).toBe(a.tip);
    expect(link.log).toEqual(['b>cmpctblock']);
  });
});

describe('blocks from fake peers', () => {
  let world: SyncWorld;
  let source: SyncWorld;
  const open = async (blocks: number, ...args: Parameters<typeof SyncWorld.open>): Promise<void> => {
    world = await SyncWorld.open(...args);
    source = await SyncWorld.open(...args);
    await source.mine(blocks);
  };
  afterEach(async () => {
    await world.close();
    await source.close();
  });
  const blockOf = async (height: number): Promise<{ raw: Buffer }> => ({
    raw: (await source.world.blockAt(height)).raw,
  });

  it('are preceded by one request for headers from the parent of the best one on, to one peer', async () => {
    await open(1);
    const [first, second] = [world.connectQuiet(), world.connectQuiet()];
    world.tick(first, second);
    world.tick(first, second);
    const [ask, ...more] = first.take('getheaders');
    expect(more).toEqual([]);
    expect(ask!.stopHash).toEqual(NO_STOP);
    expect(ask!.locator).toEqual([Buffer.from(world.chain.index.headers.hash(0))]);
    expect(second.sent).toEqual([]);
    // The first peer disconnects, so headers are requested from the other one.
    first.disconnect('test');
    world.tick(second);
    expect(second.commands).toEqual(['getheaders']);
  });

  it('are distributed, sixteen to a peer, none twice', async () => {
    await open(40);
    const peers = [world.connectQuiet(), world.connectQuiet(), world.connectQuiet()];
    const headers = await headersOf(source.world, 1, 40);
    for (const peer of peers) await world.deliver(peer, 'headers', { headers });
    world.tick(...peers);
    const asked = peers.map((peer) => peer.take('getdata').flatMap(itemsOf));
    expect(asked.map(({ length }) => length)).toEqual([16, 16, 8]);
    expect(new Set(asked.flat()).size).toBe(40);
    expect(asked[0]![0]).toBe(`${INV.witnessBlock}:${(await source.world.blockAt(1)).hash.toString('hex')}`);
    expect(world.host.describe(peers[2]!)).toMatchObject({
      inFlightHeights: [33, 34, 35, 36, 37, 38, 39, 40],
      syncedHeaders: 40,
      syncedBlocks: 0,
    });
    // Blocks that one peer did not send are requested from the others after its disconnect.
    peers[0]!.disconnect('test');
    world.tick(peers[2]!);
    expect(peers[2]!.take('getdata').flatMap(itemsOf)).toEqual(asked[0]!.slice(0, 8));
  });

  it('are connected in any order of arrival', async () => {
    await open(50);
    const peer = world.connectQuiet();
    await world.deliver(peer, 'headers', { headers: await headersOf(source.world, 1, 50) });
    const heights = new Map<string, number>();
    for (let height = 1; height <= 50; height++)
      heights.set((await source.world.blockAt(height)).hash.toString('hex'), height);
    for (let turn = 0; turn < 20 && world.height < 50; turn++) {
      world.tick(peer);
      const asked = peer.take('getdata').flatMap(({ items }) => items);
      for (const { hash } of asked.reverse())
        await world.handle(peer, 'block', await blockOf(heights.get(hash.toString('hex'))!));
    }
    expect(world.tip).toBe(source.tip);
    expect(peer.punishments).toEqual([]);
    expect(peer.useful).toHaveLength(50);
  });

  it('are requested as soon as a peer owes few, without waiting for its turn', async () => {
    await open(30);
    const peer = world.connectQuiet();
    await world.deliver(peer, 'headers', { headers: await headersOf(source.world, 1, 30) });
    world.tick(peer);
    peer.take('getdata');
    for (let height = 1; height <= 7; height++) await world.handle(peer, 'block', await blockOf(height));
    expect(peer.take('getdata')).toEqual([]);
    await world.handle(peer, 'block', await blockOf(8));
    expect(peer.take('getdata').flatMap(itemsOf)).toHaveLength(8);
  });

  it('are not stored if they were not requested and have too little work', async () => {
    await open(10);
    world.world.timeSec += 50;
    await world.mine(11);
    const peer = world.connectQuiet();
    await world.handle(peer, 'headers', { headers: await headersOf(source.world, 1, 3) });
    await world.handle(peer, 'block', await blockOf(3));
    const { headers } = world.chain.index;
    const id = headers.find((await source.world.blockAt(3)).hash);
    expect(headers.txCount(id)).toBe(0);
    expect(peer.useful).toEqual([]);
    expect(peer.punishments).toEqual([]);
  });

  it('are requested from limited peers only if they are new', async () => {
    await open(5);
    const limited = world.connectQuiet({ services: 1024n | 4n | 8n });
    await world.deliver(limited, 'headers', { headers: await headersOf(source.world, 1, 5) });
    world.tick(limited);
    expect(limited.take('getdata')).toEqual([]);
    // After the initial download, blocks are requested from the limited peer too.
    await world.copyFrom(source.world, 1, 2);
    world.tick(limited);
    expect(limited.take('getdata').flatMap(itemsOf)).toHaveLength(3);
  });

  it('are not requested from limited peers if they are old', async () => {
    await open(2);
    await world.copyFrom(source.world, 1, 2);
    await world.settle();
    expect(world.chain.isInitialDownload()).toBe(false);
    for (const { world: chain } of [world, source]) chain.timeSec += 300 * 600;
    const headers = await mineHeaders(source, 300, source.chain.tip);
    const [limited, whole] = [world.connectQuiet({ services: 1024n | 4n | 8n }), world.connectQuiet()];
    for (const peer of [limited, whole]) await world.deliver(peer, 'headers', { headers });
    world.tick(limited, whole);
    const asked = [limited, whole].map((peer) => peer.take('getdata').flatMap(itemsOf));
    const items = (from: number, to: number): string[] =>
      headers
        .slice(from - 1, to)
        .map((header) => `${INV.witnessBlock}:${headerHash(header).toString('hex')}`);
    // The limited peer certainly has the last 286 of the 300 blocks. The other peer receives requests from our height on.
    expect(asked).toEqual([items(15, 30), [...items(1, 14), ...items(31, 32)]]);
  });

  it('with witness are not requested from peers that keep none', async () => {
    await open(5, { params: regtestWith({ forkHeights: ['segwit@3'] }) });
    const old = world.connectQuiet({ services: 1n | 4n });
    await world.deliver(old, 'headers', { headers: await headersOf(source.world, 1, 5) });
    world.tick(old);
    expect(old.take('getdata').flatMap(itemsOf)).toEqual([
      `${INV.block}:${(await source.world.blockAt(1)).hash.toString('hex')}`,
      `${INV.block}:${(await source.world.blockAt(2)).hash.toString('hex')}`,
    ]);
  });

  it('are not requested behind a block known to be invalid', async () => {
    await open(5);
    const peer = world.connectQuiet();
    await world.deliver(peer, 'headers', { headers: await headersOf(source.world, 1, 5) });
    const { index } = world.chain;
    index.markFailed(index.headers.find((await source.world.blockAt(3)).hash));
    world.tick(peer);
    expect(world.host.describe(peer)).toMatchObject({ inFlightHeights: [1, 2] });
  });

  it('are not downloaded for a branch below the minimum chain work', async () => {
    await open(5, { sync: { minimumChainWork: 1n << 60n } });
    const peer = world.connectQuiet({ kind: 'manual' });
    await world.deliver(peer, 'headers', { headers: await headersOf(source.world, 1, 5) });
    world.tick(peer);
    expect(peer.take('getdata')).toEqual([]);
    expect(world.chain.index.headers.count).toBe(6);
  });
});
