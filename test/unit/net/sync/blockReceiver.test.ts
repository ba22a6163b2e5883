import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LoadedBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { REJECT_CODE } from '../../../../src/consensus/reject.js';
import { buildCompactBlock } from '../../../../src/net/compact/compactBlock.js';
import { headerOf, headersOf, makeBlock, seal, SyncWorld } from './support.js';
import { OPEN_SCRIPT } from '../../../support/testChain.js';

describe('received blocks', () => {
  let world: SyncWorld;
  let source: SyncWorld;
  beforeAll(async () => {
    source = await SyncWorld.open();
    await source.mine(5);
  });
  afterAll(() => source.close());
  beforeEach(async () => {
    world = await SyncWorld.open();
    await world.copyFrom(source.world, 1, 5);
  });
  afterEach(() => world.close());

  /** A block whose coinbase pays too much, which is detected when it is connected. */
  const makeGreedy = (): Promise<LoadedBlock> =>
    makeBlock(source.world, ({ coinbase }) => void (coinbase.outputs[0]!.value += 1n));
  const invalidReject = (reason: string, hash: Buffer): object => ({
    command: 'block',
    code: REJECT_CODE.INVALID,
    reason,
    hash,
  });

  it('are refused if they cannot be parsed', async () => {
    const peer = world.connectQuiet();
    const { raw } = await makeBlock(source.world);
    await world.handle(peer, 'block', { raw: raw.subarray(0, raw.length - 1) });
    expect(peer.rejects).toEqual([
      { command: 'block', code: REJECT_CODE.MALFORMED, reason: 'error parsing message', hash: undefined },
    ]);
    expect(peer.punishments).toEqual([]);
  });

  it('are stored and connected in the background', async () => {
    const peer = world.connectQuiet();
    const block = await makeBlock(source.world);
    const delivered = world.deliver(peer, 'block', { raw: block.raw });
    await delivered;
    const { headers } = world.chain.index;
    expect(headers.chainTxCount(headers.find(block.hash))).toBeGreaterThan(0);
    expect(peer.useful).toEqual(['block']);
    await world.settle();
    expect(world.tip).toBe(block.hash.toString('hex'));
    // The second copy of a block has no effect.
    await world.handle(peer, 'block', { raw: block.raw });
    expect(peer.useful).toEqual(['block']);
    expect(peer.punishments).toEqual([]);
  });

  it('may have trailing bytes', async () => {
    const peer = world.connectQuiet();
    const block = await makeBlock(source.world);
    await world.handle(peer, 'block', { raw: Buffer.concat([block.raw, Buffer.alloc(7)]) });
    expect(world.tip).toBe(block.hash.toString('hex'));
  });

  it('cost the score of the verdict at once if they cannot be stored', async () => {
    const peer = world.connectQuiet();
    const template = await source.world.miner.assembler.assemble(OPEN_SCRIPT);
    template.header.merkleRoot = Buffer.alloc(32, 7);
    const { raw, hash } = await seal(template);
    await world.deliver(peer, 'block', { raw });
    expect(peer.rejects).toEqual([invalidReject('bad-txnmrklroot', hash)]);
    expect(peer.goneReason).toBe('misbehaving: bad-txnmrklroot');
    // The block is not marked as invalid, because another peer may send it with the right transactions.
    expect(world.chain.index.headers.count).toBe(6);
  });

  it('cost the score of the verdict later if they are found invalid while being connected', async () => {
    const [peer, other] = [world.connectQuiet(), world.connectQuiet()];
    const { raw, hash } = await makeGreedy();
    await world.deliver(peer, 'block', { raw });
    expect(peer.punishments).toEqual([]);
    await world.deliver(other, 'block', { raw });
    await world.settle();
    expect(peer.rejects).toEqual([invalidReject('bad-cb-amount', hash)]);
    expect(peer.goneReason).toBe('misbehaving: bad-cb-amount');
    // The second peer sent a block that was already received.
    expect([other.punishments, other.rejects]).toEqual([[], []]);
    // The block is known as invalid, so it is ignored.
    await world.handle(other, 'block', { raw });
    expect([other.punishments, other.rejects]).toEqual([[], []]);
    expect(world.height).toBe(5);
  });

  it('cost nothing if their parent is unknown: that verdict has no code', async () => {
    const peer = world.connectQuiet();
    const fresh = await SyncWorld.open();
    try {
      fresh.world.timeSec += 5000;
      await fresh.mine(2);
      await world.handle(peer, 'block', { raw: (await fresh.world.blockAt(2)).raw });
    } finally {
      await fresh.close();
    }
    expect([peer.punishments, peer.rejects]).toEqual([[], []]);
  });

  it('are ignored while blocks are imported', async () => {
    const peer = world.connectQuiet();
    const block = await makeBlock(source.world);
    world.chain.importing = true;
    await world.handle(peer, 'block', { raw: block.raw });
    world.chain.importing = false;
    expect(world.height).toBe(5);
  });

  it('let their peer send new blocks in compact form unrequested, three peers at most', async () => {
    const miner = await SyncWorld.open();
    try {
      await miner.copyFrom(source.world, 1, 5);
      const peers = Array.from({ length: 4 }, () => world.connect());
      for (const peer of peers) await world.deliver(peer, 'sendcmpct', { announce: false, version: 2n });
      for (const peer of peers) peer.sent.length = 0;
      const bringOne = async (peer: (typeof peers)[0]): Promise<void> => {
        await miner.mine(1);
        await world.handle(peer, 'block', { raw: (await miner.world.blockAt(miner.height)).raw });
      };
      const asked = (): (boolean | undefined)[] =>
        peers.map((peer) => peer.take('sendcmpct').at(-1)?.announce);
      for (const peer of peers.slice(0, 3)) await bringOne(peer);
      expect(asked()).toEqual([true, true, true, undefined]);
      // The peer is useful again. Now the second peer has been useful for the longest time.
      await bringOne(peers[0]!);
      expect(asked()).toEqual([undefined, undefined, undefined, undefined]);
      await bringOne(peers[3]!);
      expect(asked()).toEqual([undefined, false, undefined, true]);
      peers[2]!.disconnect('test');
      await bringOne(peers[1]!);
      expect(asked()).toEqual([undefined, true, undefined, undefined]);
    } finally {
      await miner.close();
    }
  });

  it('do not so while others are in progress, or for a peer without witnesses', async () => {
    const [peer, old] = [world.connect(), world.connect()];
    await world.deliver(peer, 'sendcmpct', { announce: false, version: 2n });
    await world.deliver(old, 'sendcmpct', { announce: false, version: 1n });
    peer.sent.length = 0;
    old.sent.length = 0;
    const [first, second] = [
      await makeBlock(source.world),
      await makeBlock(source.world, (template) => void (template.header.timeSec += 1)),
    ];
    await world.deliver(peer, 'headers', { headers: [headerOf(second)] });
    await world.handle(peer, 'block', { raw: first.raw });
    expect(peer.take('sendcmpct')).toEqual([]);
    const miner = await SyncWorld.open();
    try {
      await miner.copyFrom(source.world, 1, 5);
      await miner.chain.processBlock(first, true);
      await miner.mine(1);
      await world.handle(peer, 'block', { raw: second.raw });
      await world.handle(old, 'block', { raw: (await miner.world.blockAt(7)).raw });
    } finally {
      await miner.close();
    }
    expect(world.height).toBe(7);
    expect(old.take('sendcmpct')).toEqual([]);
  });

  it('pause their peer while too many blocks are stored and not connected', async () => {
    const peer = world.connectQuiet();
    const { connector } = world.sync;
    const block = await makeBlock(source.world);
    await world.deliver(peer, 'headers', { headers: [headerOf(block)] });
    let unlock = (): void => undefined;
    const locked = world.chain.exclusively(() => new Promise<void>((resolve) => (unlock = resolve)));
    connector.noteAccepted(1_000_000, 33 << 20);
    let isDone = false;
    const delivered = world.deliver(peer, 'block', { raw: block.raw }).then(() => (isDone = true));
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(isDone).toBe(false);
    unlock();
    await locked;
    await delivered;
    expect(world.tip).toBe(block.hash.toString('hex'));
    expect(connector.isCongested).toBe(false);
  });

  it('do not punish a peer that relayed them in compact form', async () => {
    const peer = world.connectQuiet();
    const block = await makeGreedy();
    await world.deliver(peer, 'sendcmpct', { announce: true, version: 2n });
    await world.handle(peer, 'cmpctblock', buildCompactBlock(block, 1n, true));
    expect(peer.punishments).toEqual([]);
    expect(peer.rejects).toEqual([invalidReject('bad-cb-amount', block.hash)]);
    expect(world.height).toBe(5);
    const headers = await headersOf(source.world, 4, 5);
    await world.handle(peer, 'headers', { headers: [...headers, headerOf(block)] });
    expect(peer.isGone).toBe(true);
  });
});
