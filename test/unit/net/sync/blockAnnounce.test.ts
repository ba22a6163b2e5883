import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { regtestWith } from '../../../../src/params/regtest.js';
import { headerHash } from '../../../../src/primitives/header.js';
import type { FakePeer, FakePeerOptions } from '../../../support/fakePeer.js';
import { headersOf, SyncWorld } from './support.js';

describe('announcements', () => {
  let world: SyncWorld;
  let source: SyncWorld;
  beforeAll(async () => {
    source = await SyncWorld.open();
    await source.mine(20);
  });
  afterAll(() => source.close());
  beforeEach(async () => {
    world = await SyncWorld.open();
    await world.copyFrom(source.world, 1, 5);
  });
  afterEach(() => world.close());

  const hashOf = async (height: number, of = source): Promise<string> =>
    (await of.world.blockAt(height)).hash.toString('hex');
  /** Connects a peer that has our chain. */
  const connectInStep = async (options: FakePeerOptions = {}): Promise<FakePeer> => {
    const peer = world.connectQuiet(options);
    const headers = await headersOf(world.world, 5, 5);
    await world.deliver(peer, 'headers', { headers });
    return peer;
  };
  /** Ticks the peers until nothing more is sent. */
  const turns = async (...peers: FakePeer[]): Promise<void> => {
    await world.settle();
    world.tick(...peers);
    await world.settle();
  };
  /** The sent announcements: command and the printed hashes in wire order. */
  const announced = (peer: FakePeer): string[] => {
    const found: string[] = [];
    for (const { command, payload } of peer.sent.splice(0)) {
      const of = payload as { items?: { hash: Buffer }[]; headers?: Buffer[]; header?: Buffer };
      if (command === 'inv') found.push(`inv ${of.items!.map(({ hash }) => hash.toString('hex')).join()}`);
      if (command === 'headers')
        found.push(`headers ${of.headers!.map((header) => headerHash(header).toString('hex')).join()}`);
      if (command === 'cmpctblock') found.push(`cmpctblock ${headerHash(of.header!).toString('hex')}`);
    }
    return found;
  };

  it('are requested as headers and as compact blocks of both versions, from peers that support them', () => {
    expect(world.connect().commands).toEqual(['sendheaders', 'sendcmpct', 'sendcmpct']);
    expect(world.connect().take('sendcmpct')).toEqual([
      { announce: false, version: 2n },
      { announce: false, version: 1n },
    ]);
    expect(world.connect({ protocolVersion: 70_013 }).commands).toEqual(['sendheaders']);
    expect(world.connect({ protocolVersion: 70_011 }).commands).toEqual([]);
  });

  /** Runs the task while the peers do not accept sent bytes. */
  const whileFull = async (task: () => Promise<void>, ...peers: FakePeer[]): Promise<void> => {
    for (const peer of peers) peer.isSendFull = true;
    await task();
    for (const peer of peers) peer.isSendFull = false;
  };

  it('contain the id of each tip for a peer without preferences', async () => {
    const peer = await connectInStep();
    await world.copyFrom(source.world, 6, 7);
    expect(announced(peer)).toEqual([`inv ${await hashOf(6)}`, `inv ${await hashOf(7)}`]);
    await whileFull(() => world.copyFrom(source.world, 8, 9), peer);
    expect(announced(peer)).toEqual([]);
    await turns(peer);
    expect(announced(peer)).toEqual([`inv ${await hashOf(9)}`]);
    await turns(peer);
    expect(announced(peer)).toEqual([]);
  });

  it('contain headers for a peer that requested them, from the first unknown one on', async () => {
    const peer = await connectInStep();
    await world.deliver(peer, 'sendheaders', null);
    await whileFull(() => world.copyFrom(source.world, 6, 8), peer);
    await turns(peer);
    expect(announced(peer)).toEqual([`headers ${await hashOf(6)},${await hashOf(7)},${await hashOf(8)}`]);
    // That much it knows now.
    await world.copyFrom(source.world, 9, 9);
    expect(announced(peer)).toEqual([`headers ${await hashOf(9)}`]);
  });

  it('are sent for each block, however fast they follow each other', async () => {
    const peer = await connectInStep();
    await world.deliver(peer, 'sendheaders', null);
    const from = world.connectQuiet();
    await world.deliver(from, 'headers', { headers: await headersOf(source.world, 6, 17) });
    for (let height = 6; height <= 17; height++)
      await world.deliver(from, 'block', { raw: (await source.world.blockAt(height)).raw });
    await world.settle();
    const expected: string[] = [];
    for (let height = 6; height <= 17; height++) expected.push(`headers ${await hashOf(height)}`);
    expect(announced(peer)).toEqual(expected);
  });

  it('omit blocks that the peer announced', async () => {
    const [peer, teller] = [await connectInStep(), await connectInStep()];
    await world.deliver(peer, 'sendheaders', null);
    await world.deliver(teller, 'headers', { headers: await headersOf(source.world, 6, 7) });
    await world.copyFrom(source.world, 6, 7);
    await turns(peer, teller);
    expect(announced(peer)).toEqual([`headers ${await hashOf(6)}`, `headers ${await hashOf(7)}`]);
    expect(announced(teller)).toEqual([]);
  });

  it('contain the id of the tip if its header would not connect to the headers of the peer', async () => {
    const peer = world.connectQuiet();
    await world.deliver(peer, 'sendheaders', null);
    await whileFull(() => world.copyFrom(source.world, 6, 7), peer);
    await turns(peer);
    expect(announced(peer)).toEqual([`inv ${await hashOf(7)}`]);
  });

  it('contain the id of the tip after more than eight blocks while the peer did not read', async () => {
    const [eight, nine] = [await connectInStep(), await connectInStep()];
    for (const peer of [eight, nine]) await world.deliver(peer, 'sendheaders', null);
    await whileFull(() => world.copyFrom(source.world, 6, 13), eight, nine);
    await turns(eight);
    await whileFull(() => world.copyFrom(source.world, 14, 14), nine);
    await turns(nine);
    const hashes = await Promise.all([6, 7, 8, 9, 10, 11, 12, 13].map((height) => hashOf(height)));
    expect(announced(eight)).toEqual([`headers ${hashes.join()}`, `headers ${await hashOf(14)}`]);
    expect(announced(nine)).toEqual([`inv ${await hashOf(14)}`]);
  });

  it('contain the headers of the new branch after a reorganisation', async () => {
    const fork = await SyncWorld.open();
    try {
      await fork.copyFrom(source.world, 1, 4);
      fork.world.timeSec += 100;
      await fork.mine(3);
      const peer = await connectInStep();
      await world.deliver(peer, 'sendheaders', null);
      await world.copyFrom(fork.world, 5, 7);
      await turns(peer);
      const hashes = await Promise.all([5, 6, 7].map((height) => hashOf(height, fork)));
      // The first block has the same work as our tip, so it is announced together with the next block.
      expect(announced(peer)).toEqual([`headers ${hashes[0]},${hashes[1]}`, `headers ${hashes[2]}`]);
    } finally {
      await fork.close();
    }
  });

  it('contain the last id if the tip left its branch before the announcement', async () => {
    const fork = await SyncWorld.open();
    try {
      await fork.copyFrom(source.world, 1, 4);
      fork.world.timeSec += 100;
      await fork.mine(5);
      const peer = await connectInStep();
      await world.deliver(peer, 'sendheaders', null);
      await whileFull(async () => {
        await world.copyFrom(source.world, 6, 6);
        await world.copyFrom(fork.world, 5, 9);
      }, peer);
      await turns(peer);
      expect(announced(peer)).toEqual([`inv ${await hashOf(9, fork)}`]);
    } finally {
      await fork.close();
    }
  });

  it('are compact blocks for a peer that requested them, before they are connected', async () => {
    const peer = await connectInStep();
    await world.deliver(peer, 'sendcmpct', { announce: true, version: 2n });
    const block = await source.world.blockAt(6);
    world.chain.acceptBlock(block, true);
    expect(announced(peer)).toEqual([`cmpctblock ${await hashOf(6)}`]);
    // A second block at that height is not announced.
    const fork = await SyncWorld.open();
    try {
      await fork.copyFrom(source.world, 1, 5);
      fork.world.timeSec += 100;
      await fork.mine(1);
      world.chain.acceptBlock(await fork.world.blockAt(6), true);
    } finally {
      await fork.close();
    }
    expect(announced(peer)).toEqual([]);
    await world.chain.connectBestChain();
    await turns(peer);
    expect(announced(peer)).toEqual([]);
  });

  it('use the version of compact blocks that the peer requested first', async () => {
    const [witness, plain] = [await connectInStep(), await connectInStep()];
    for (const message of [
      { announce: true, version: 2n },
      { announce: false, version: 1n },
      { announce: false, version: 3n },
    ])
      await world.deliver(witness, 'sendcmpct', message);
    await world.deliver(plain, 'sendcmpct', { announce: false, version: 1n });
    await world.deliver(plain, 'sendcmpct', { announce: true, version: 2n });
    world.chain.acceptBlock(await source.world.blockAt(6), true);
    expect(announced(witness)).toEqual([`cmpctblock ${await hashOf(6)}`]);
    expect(announced(plain)).toEqual([]);
  });

  it('are compact blocks later for a peer that received the parent only meanwhile', async () => {
    const peer = world.connectQuiet();
    await world.deliver(peer, 'sendcmpct', { announce: true, version: 2n });
    world.chain.acceptBlock(await source.world.blockAt(6), true);
    expect(announced(peer)).toEqual([]);
    await whileFull(() => world.chain.connectBestChain(), peer);
    await world.deliver(peer, 'headers', { headers: await headersOf(source.world, 5, 5) });
    await turns(peer);
    expect(announced(peer)).toEqual([`cmpctblock ${await hashOf(6)}`]);
  });

  it('send no compact blocks with witness to peers without support, and to old ones', async () => {
    const witness = await SyncWorld.open({ params: regtestWith({ forkHeights: ['segwit@1'] }) });
    try {
      await witness.mine(5);
      const before = world;
      world = witness;
      const plain = await connectInStep();
      const old = await connectInStep({ protocolVersion: 70_014 });
      await witness.deliver(plain, 'sendcmpct', { announce: true, version: 1n });
      await witness.deliver(old, 'sendcmpct', { announce: true, version: 2n });
      await whileFull(async () => void (await witness.mine(1)), plain, old);
      expect([announced(plain), announced(old)]).toEqual([[], []]);
      // In their next tick, the peers receive the block in the version that they support.
      await witness.settle();
      witness.tick(plain, old);
      const [compact] = plain.take('cmpctblock');
      // The coinbase has no witness, so no marker follows the version.
      expect(compact!.prefilled[0]!.raw[4]).toBe(1);
      const [whole] = old.take('cmpctblock');
      expect(whole!.prefilled[0]!.raw.subarray(4, 6)).toEqual(Buffer.from([0, 1]));
      world = before;
    } finally {
      await witness.close();
    }
  });

  it('are not sent during the initial download, nor to peers far ahead', async () => {
    const far = await connectInStep({ startHeight: 5000 });
    const near = await connectInStep({ startHeight: 2000 });
    const silent = await connectInStep({ startHeight: -1 });
    await world.copyFrom(source.world, 6, 6);
    await turns(far, near, silent);
    expect([announced(far), announced(near).length, announced(silent).length]).toEqual([[], 1, 1]);
    const initial = await SyncWorld.open();
    try {
      initial.world.timeSec += 3 * 86_400;
      const peer = initial.connectQuiet();
      await initial.copyFrom(source.world, 1, 5);
      await initial.settle();
      initial.tick(peer);
      expect(peer.take('inv')).toEqual([]);
    } finally {
      await initial.close();
    }
  });
});
