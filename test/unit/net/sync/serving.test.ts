import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { peerQueue } from '../../../../src/scheduler/peerQueue.js';
import { INV } from '../../../../src/net/inventory.js';
import { NODE } from '../../../../src/net/services.js';
import { regtestWith } from '../../../../src/params/regtest.js';
import { headerHash } from '../../../../src/primitives/header.js';
import { loadBlock, type LoadedBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { spend } from '../../../support/testChain.js';
import type { FakePeer } from '../../../support/fakePeer.js';
import { itemsOf, NO_STOP, SyncWorld } from './support.js';

const PARAMS = regtestWith({ forkHeights: ['segwit@105'] });
const DAY_SEC = 86_400;

describe('serving', () => {
  let world: SyncWorld;
  /** The last block has a second transaction; from 105 on coinbases have a witness. */
  let blocks: LoadedBlock[];
  beforeAll(async () => {
    world = await SyncWorld.open({ params: PARAMS });
    await world.mine(108);
    const { txids } = (await world.world.blockAt(1)).parsed;
    const coin = { txid: Buffer.from(txids.subarray(0, 32)), n: 0 };
    world.world.pending.push(spend([coin], [{ value: 1000n, script: Buffer.of(0x51) }]));
    await world.mine(1);
    blocks = [];
    for (let height = 0; height <= 109; height++) blocks.push(await world.world.blockAt(height));
    // More blocks follow, so that the tested blocks are not in memory.
    await world.mine(4);
  });
  afterAll(() => world.close());
  beforeEach(() => {
    world.localServices = NODE.network | NODE.witness;
  });
  const peers: FakePeer[] = [];
  const connect = (...args: Parameters<SyncWorld['connectQuiet']>): FakePeer => {
    const peer = world.connectQuiet(...args);
    peers.push(peer);
    return peer;
  };
  afterEach(() => {
    for (const peer of peers.splice(0)) peer.disconnect('end of test');
  });
  const ask = async (peer: FakePeer, type: number, hash: Buffer): Promise<void> => {
    await world.deliver(peer, 'getdata', { items: [{ type, hash }] });
  };

  describe('getdata', () => {
    it('sends whole blocks', async () => {
      const peer = connect();
      await ask(peer, INV.witnessBlock, blocks[109]!.hash);
      await ask(peer, INV.witnessBlock, blocks[7]!.hash);
      expect(peer.sent.map(({ payload }) => (payload as { raw: Buffer }).raw)).toEqual([
        blocks[109]!.raw,
        blocks[7]!.raw,
      ]);
    });

    it('yields after each block that it reads', async () => {
      const turns: number[] = [];
      const asking = Array.from({ length: 6 }, async (_, n) => {
        const peer = connect();
        peer.onSent = () => void turns.push(peerQueue.turn);
        await ask(peer, INV.witnessBlock, blocks[7 + n]!.hash);
        await ask(peer, INV.filteredBlock, blocks[27 + n]!.hash);
      });
      await Promise.all(asking);
      // A filtered block takes two messages in one turn, because one of its transactions matches.
      expect(turns).toHaveLength(18);
      expect(new Set(turns).size).toBe(12);
    });

    it('sends blocks without witness', async () => {
      const peer = connect();
      await ask(peer, INV.block, blocks[109]!.hash);
      await ask(peer, INV.block, blocks[7]!.hash);
      const [stripped, plain] = peer.take('block').map(({ raw }) => loadBlock(raw));
      expect(stripped!.raw.length).toBe(blocks[109]!.parsed.strippedSizeBytes);
      expect(stripped!.raw.length).toBeLessThan(blocks[109]!.raw.length);
      expect(stripped!.hash).toEqual(blocks[109]!.hash);
      expect(stripped!.parsed.txids).toEqual(blocks[109]!.parsed.txids);
      expect(plain!.raw).toEqual(blocks[7]!.raw);
    });

    it('sends filtered blocks and the transactions that match', async () => {
      const peer = connect();
      const asked: number[] = [];
      world.filter = {
        *isRelevantAndUpdateInSlices(_raw, _parsed, tx) {
          yield;
          return asked.push(tx) === 2;
        },
      };
      await ask(peer, INV.filteredBlock, blocks[109]!.hash);
      expect(asked).toEqual([0, 1]);
      expect(peer.commands).toEqual(['merkleblock', 'tx']);
      const [{ header, tree }] = peer.take('merkleblock') as [Parameters<typeof peer.send<'merkleblock'>>[1]];
      expect(headerHash(header)).toEqual(blocks[109]!.hash);
      expect(tree.txCount).toBe(2);
      expect(peer.take('tx')[0]!.raw).toEqual(blocks[109]!.raw.subarray(blocks[109]!.parsed.txs[12]));
    });

    it('sends the last blocks in compact form, deeper ones completely', async () => {
      const peer = connect();
      const tips = await Promise.all([113, 108, 107].map((height) => world.world.blockAt(height)));
      for (const { hash } of tips) await ask(peer, INV.compactBlock, hash);
      expect(peer.commands).toEqual(['cmpctblock', 'cmpctblock', 'block']);
      expect(loadBlock(peer.take('block')[0]!.raw).raw.length).toBe(tips[2]!.parsed.strippedSizeBytes);
      await world.deliver(peer, 'sendcmpct', { announce: false, version: 2n });
      await ask(peer, INV.compactBlock, tips[2]!.hash);
      expect(peer.take('block')[0]!.raw).toEqual(tips[2]!.raw);
    });

    it('answers in order, and sends notfound for unknown items', async () => {
      const peer = connect();
      world.sync.getData.addServer({
        handles: (type) => type === INV.tx,
        serve: (to, { hash }) => {
          if (hash[0] === 1) to.sendRaw('tx', blocks[109]!.raw.subarray(blocks[109]!.parsed.txs[12]));
          return hash[0] === 1;
        },
      });
      const tx = (byte: number) => ({ type: INV.tx, hash: Buffer.alloc(32, byte) });
      const block = { type: INV.block, hash: blocks[3]!.hash };
      const unknown = { type: INV.block, hash: Buffer.alloc(32, 5) };
      const odd = { type: 77, hash: Buffer.alloc(32, 5) };
      const items = [tx(2), tx(1), odd, tx(3), block, unknown, tx(4)];
      await world.deliver(peer, 'getdata', { items });
      expect(peer.commands).toEqual(['tx', 'notfound', 'block', 'notfound']);
      expect(peer.take('notfound').map(({ items: [...missing] }) => missing)).toEqual([
        [tx(2), tx(3)],
        [tx(4)],
      ]);
    });

    it('costs twenty points if it asks for too much', async () => {
      const peer = connect();
      const items = Array.from({ length: 50_001 }, () => ({ type: INV.block, hash: blocks[1]!.hash }));
      await world.deliver(peer, 'getdata', { items });
      expect(peer.punishments).toEqual(['20 message getdata size() = 50001']);
      expect(peer.sent).toEqual([]);
    });

    it('waits while the peer does not read', async () => {
      const peer = connect();
      let release = (): void => undefined;
      peer.sendRoom = () =>
        peer.sent.length < 2 ? Promise.resolve() : new Promise((resolve) => (release = resolve));
      const items = blocks.slice(1, 5).map(({ hash }) => ({ type: INV.block, hash }));
      const done = world.deliver(peer, 'getdata', { items });
      await expect.poll(() => peer.sent.length, { timeout: 60_000 }).toBe(2);
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
      expect(peer.sent).toHaveLength(2);
      peer.sendRoom = () => Promise.resolve();
      release();
      await done;
      expect(peer.sent).toHaveLength(4);
    });

    it('sends only the last blocks of a pruning node', async () => {
      const limited = await SyncWorld.open({ localServices: NODE.networkLimited | NODE.witness });
      try {
        await limited.mine(292);
        const [peer, friend] = [limited.connectQuiet(), limited.connectQuiet({ isWhitelisted: true })];
        const at = async (height: number): Promise<Buffer> => (await limited.world.blockAt(height)).hash;
        const items = [{ type: INV.block, hash: await at(2) }];
        await limited.deliver(peer, 'getdata', { items });
        expect(peer.commands).toEqual(['block']);
        await limited.deliver(peer, 'getdata', { items: [{ type: INV.block, hash: await at(1) }] });
        expect(peer.goneReason).toContain('NODE_NETWORK_LIMITED');
        await limited.deliver(friend, 'getdata', { items: [{ type: INV.block, hash: await at(1) }] });
        expect(friend.commands).toEqual(['block']);
      } finally {
        await limited.close();
      }
    });

    it('serves no history when the daily upload limit is reached', async () => {
      const bounded = await SyncWorld.open({ sync: { uploadTargetBytes: 1000 } });
      try {
        await bounded.mine(2);
        bounded.world.timeSec += 8 * DAY_SEC;
        await bounded.mine(1);
        const hashes = await Promise.all([1, 3].map(async (h) => (await bounded.world.blockAt(h)).hash));
        const serve = async (type: number, hash: Buffer, isWhitelisted = false): Promise<string[]> => {
          const peer = bounded.connectQuiet({ isWhitelisted });
          await bounded.deliver(peer, 'getdata', { items: [{ type, hash }] });
          return peer.isGone ? ['gone'] : peer.commands;
        };
        expect(await serve(INV.block, hashes[1]!)).toEqual(['block']);
        expect(await serve(INV.filteredBlock, hashes[1]!)).toEqual(['gone']);
        expect(await serve(INV.block, hashes[0]!)).toEqual(['gone']);
        expect(await serve(INV.block, hashes[0]!, true)).toEqual(['block']);
      } finally {
        await bounded.close();
      }
    });
  });

  it('serves blocks and headers of other branches for a month, and only validated ones', async () => {
    const forked = await SyncWorld.open();
    const fork = await SyncWorld.open();
    try {
      await forked.mine(3);
      await fork.copyFrom(forked.world, 1, 2);
      fork.world.timeSec += 100;
      await fork.mine(3);
      const stale = (await forked.world.blockAt(3)).hash;
      await forked.copyFrom(fork.world, 3, 5);
      const weak = await SyncWorld.open();
      await weak.copyFrom(forked.world, 1, 2);
      weak.world.timeSec += 50;
      await weak.mine(1);
      const neverConnected = await weak.world.blockAt(3);
      await forked.chain.processBlock(neverConnected, true);
      await weak.close();
      const answers = async (hash: Buffer): Promise<string[]> => {
        const peer = forked.connectQuiet();
        await forked.deliver(peer, 'getdata', { items: [{ type: INV.block, hash }] });
        await forked.deliver(peer, 'getheaders', { version: 0, locator: [], stopHash: hash });
        return peer.commands;
      };
      expect(await answers(stale)).toEqual(['block', 'headers']);
      expect(await answers(neverConnected.hash)).toEqual([]);
      forked.world.timeSec += 31 * DAY_SEC;
      await forked.mine(1);
      expect(await answers(stale)).toEqual([]);
    } finally {
      await forked.close();
      await fork.close();
    }
  });

  describe('getheaders', () => {
    const get = async (peer: FakePeer, locator: Buffer[], stopHash = NO_STOP): Promise<string[] | null> => {
      await world.deliver(peer, 'getheaders', { version: 70_015, locator, stopHash });
      const [answer] = peer.take('headers');
      return answer ? answer.headers.map((header) => headerHash(header).toString('hex')) : null;
    };
    const hashes = (from: number, to: number): string[] =>
      blocks.slice(from, to + 1).map(({ hash }) => hash.toString('hex'));

    it('returns the headers after the last common block, to the stop or the tip', async () => {
      const peer = connect();
      const unknown = Buffer.alloc(32, 9);
      expect(await get(peer, [unknown, blocks[50]!.hash], blocks[53]!.hash)).toEqual(hashes(51, 53));
      expect(await get(peer, [unknown], blocks[2]!.hash)).toEqual(hashes(1, 2));
      expect((await get(peer, [blocks[100]!.hash]))!.slice(0, 9)).toEqual(hashes(101, 109));
      const tip = Buffer.from(world.tip, 'hex');
      expect(await get(peer, [tip])).toEqual([]);
    });

    it('returns one header by its id', async () => {
      const peer = connect();
      expect(await get(peer, [], blocks[50]!.hash)).toEqual(hashes(50, 50));
      expect(await get(peer, [], Buffer.alloc(32, 9))).toBeNull();
    });

    it('records the headers that were sent to the peer', async () => {
      const peer = connect();
      await world.deliver(peer, 'sendheaders', null);
      await get(peer, [blocks[100]!.hash]);
      await world.mine(1);
      await world.settle();
      world.tick(peer);
      await world.settle();
      expect(peer.take('headers')).toHaveLength(1);
      expect(peer.take('inv')).toEqual([]);
    });

    it('is not answered during the initial download, except to whitelisted peers', async () => {
      const initial = await SyncWorld.open();
      try {
        const locator = [Buffer.from(initial.chain.index.headers.hash(0))];
        const [peer, friend] = [initial.connectQuiet(), initial.connectQuiet({ isWhitelisted: true })];
        for (const to of [peer, friend])
          await initial.deliver(to, 'getheaders', { version: 0, locator, stopHash: NO_STOP });
        expect([peer.commands, friend.commands]).toEqual([[], ['headers']]);
      } finally {
        await initial.close();
      }
    });

    it.each(['getheaders', 'getblocks'] as const)(
      '%s disconnects the peer if the locator is too long',
      async (command) => {
        const [peer, other] = [connect(), connect()];
        const locator = Array.from({ length: 102 }, () => blocks[1]!.hash);
        await world.deliver(peer, command, { version: 0, locator, stopHash: NO_STOP });
        expect(peer.isGone).toBe(true);
        await world.deliver(other, command, { version: 0, locator: locator.slice(1), stopHash: NO_STOP });
        expect(other.isGone).toBe(false);
      },
    );
  });

  describe('getblocks', () => {
    const get = async (
      at: SyncWorld,
      peer: FakePeer,
      from: Buffer,
      stopHash = NO_STOP,
    ): Promise<string[]> => {
      await at.deliver(peer, 'getblocks', { version: 0, locator: [from], stopHash });
      return peer.take('inv').flatMap(itemsOf);
    };

    it('returns the ids of following blocks, up to the stop', async () => {
      const peer = connect();
      expect(await get(world, peer, blocks[50]!.hash, blocks[53]!.hash)).toEqual(
        [51, 52].map((height) => `${INV.block}:${blocks[height]!.hash.toString('hex')}`),
      );
      expect(await get(world, peer, Buffer.from(world.tip, 'hex'))).toEqual([]);
    });

    it('returns five hundred, and continues once the last of them was served', async () => {
      const long = await SyncWorld.open();
      try {
        await long.mine(520);
        const peer = long.connectQuiet();
        const reported = await get(long, peer, Buffer.from(long.chain.index.headers.hash(0)));
        expect(reported).toHaveLength(500);
        const last = await long.world.blockAt(500);
        expect(reported[499]).toBe(`${INV.block}:${last.hash.toString('hex')}`);
        const item = { type: INV.block, hash: last.hash };
        await long.deliver(peer, 'getdata', { items: [item] });
        expect(peer.commands).toEqual(['block', 'inv']);
        expect(peer.take('inv').flatMap(itemsOf)).toEqual([`${INV.block}:${long.tip}`]);
        await long.deliver(peer, 'getdata', { items: [item] });
        expect(peer.take('inv')).toEqual([]);
        // A pruning node announces no block that may be deleted within an hour: 288 less 24 are kept.
        const pruning = await SyncWorld.open({ sync: { prunes: true } });
        try {
          await pruning.copyFrom(long.world, 1, 270);
          const other = pruning.connectQuiet();
          const from = async (height: number): Promise<Buffer> => (await long.world.blockAt(height)).hash;
          expect(await get(pruning, other, await from(5))).toEqual([]);
          expect(await get(pruning, other, await from(6))).toHaveLength(264);
        } finally {
          await pruning.close();
        }
      } finally {
        await long.close();
      }
    });
  });

  describe('getblocktxn', () => {
    it('returns transactions of recent blocks, and deeper blocks completely', async () => {
      const peer = connect();
      await world.deliver(peer, 'sendcmpct', { announce: false, version: 2n });
      const { hash, raw, parsed } = blocks[109]!;
      const second = raw.subarray(parsed.txs[12]);
      await world.deliver(peer, 'getblocktxn', { blockHash: hash, indexes: [1] });
      expect(peer.take('blocktxn')).toEqual([{ blockHash: hash, txs: [second] }]);
      await world.deliver(peer, 'getblocktxn', { blockHash: blocks[90]!.hash, indexes: [0] });
      expect(peer.take('block')[0]!.raw).toEqual(blocks[90]!.raw);
      await world.deliver(peer, 'getblocktxn', { blockHash: Buffer.alloc(32, 3), indexes: [0] });
      expect(peer.sent).toEqual([]);
    });

    it('returns them as the peer reads them', async () => {
      const peer = connect();
      await world.deliver(peer, 'getblocktxn', { blockHash: blocks[109]!.hash, indexes: [0] });
      expect(peer.take('blocktxn')[0]!.txs[0]![4]).toBe(1);
    });

    it('bans for positions that the block does not have', async () => {
      const peer = connect();
      await world.deliver(peer, 'getblocktxn', { blockHash: blocks[109]!.hash, indexes: [2] });
      expect(peer.punishments).toEqual(['100 getblocktxn with out-of-bounds tx indices']);
    });
  });
});
