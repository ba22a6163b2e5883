import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LoadedBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { REJECT_CODE } from '../../../../src/consensus/reject.js';
import { buildCompactBlock } from '../../../../src/net/compact/compactBlock.js';
import { ExtraTransactions } from '../../../../src/net/compact/extraTransactions.js';
import { INV } from '../../../../src/net/inventory.js';
import { txBytes, wtxidAt } from '../../../../src/primitives/blockView.js';
import { regtestWith } from '../../../../src/params/regtest.js';
import type { FakePeer } from '../../../support/fakePeer.js';
import { spend } from '../../../support/testChain.js';
import { headerOf, headersOf, itemsOf, makeBlock, SPACING_SEC, SyncWorld } from '../sync/support.js';

/** Height below three consecutive blocks, each with three transactions and the coinbase. */
const HEIGHT = 104;

describe('compact blocks', () => {
  let source: SyncWorld;
  let world: SyncWorld;
  let blocks: LoadedBlock[];
  const peers: FakePeer[] = [];
  beforeAll(async () => {
    source = await SyncWorld.open();
    await source.mine(HEIGHT);
    let height = 0;
    for (let block = 0; block < 3; block++) {
      for (let tx = 0; tx < 3 && height < 4; tx++) {
        const { txids } = (await source.world.blockAt(++height)).parsed;
        const coin = { txid: Buffer.from(txids.subarray(0, 32)), n: 0 };
        source.world.pending.push(spend([coin], [{ value: BigInt(height), script: Buffer.of(0x51) }]));
      }
      await source.mine(1);
    }
    blocks = [];
    for (let at = HEIGHT + 1; at <= HEIGHT + 3; at++) blocks.push(await source.world.blockAt(at));
  });
  afterAll(() => source.close());
  beforeEach(async () => {
    world = await SyncWorld.open();
    await world.copyFrom(source.world, 1, HEIGHT);
  });
  afterEach(async () => {
    for (const peer of peers.splice(0)) peer.disconnect('end of test');
    await world.close();
  });

  const connect = async (options: Parameters<SyncWorld['connect']>[0] = {}): Promise<FakePeer> => {
    const peer = world.connect(options);
    peers.push(peer);
    await world.deliver(peer, 'sendcmpct', { announce: true, version: 2n });
    peer.sent.length = 0;
    return peer;
  };
  const send = async (peer: FakePeer, block: LoadedBlock): Promise<void> => {
    await world.handle(peer, 'cmpctblock', buildCompactBlock(block, 5n, true));
  };
  const candidate = ({ raw, parsed }: LoadedBlock, tx: number) => ({
    wtxid: wtxidAt(parsed, tx),
    bytes: txBytes(raw, parsed, tx),
  });
  const tipIs = (block: LoadedBlock): void => expect(world.tip).toBe(block.hash.toString('hex'));
  const wholeOf = (block: LoadedBlock): string[] => [`${INV.witnessBlock}:${block.hash.toString('hex')}`];

  it('are assembled from the mempool alone', async () => {
    const peer = await connect();
    world.pool.push(...[1, 2, 3].map((tx) => candidate(blocks[0]!, tx)));
    await send(peer, blocks[0]!);
    tipIs(blocks[0]!);
    // The node requests nothing, and asks for compact blocks from this peer.
    expect(peer.commands).toEqual(['sendcmpct']);
    expect(peer.useful).toEqual(['block']);
  });

  it('are assembled from the mempool and the missing transactions', async () => {
    const peer = await connect();
    world.pool.push(candidate(blocks[0]!, 2));
    await send(peer, blocks[0]!);
    expect(peer.take('getblocktxn')).toEqual([{ blockHash: blocks[0]!.hash, indexes: [1, 3] }]);
    expect(world.host.describe(peer)).toMatchObject({ inFlightHeights: [HEIGHT + 1] });
    const txs = [1, 3].map((tx) => candidate(blocks[0]!, tx).bytes);
    await world.handle(peer, 'blocktxn', { blockHash: blocks[0]!.hash, txs });
    tipIs(blocks[0]!);
    expect(world.host.describe(peer)).toMatchObject({ inFlightHeights: [] });
  });

  it('are requested almost completely if the mempool is empty', async () => {
    const peer = await connect();
    await send(peer, blocks[0]!);
    expect(peer.take('getblocktxn')).toEqual([{ blockHash: blocks[0]!.hash, indexes: [1, 2, 3] }]);
    const txs = [1, 2, 3].map((tx) => candidate(blocks[0]!, tx).bytes);
    await world.handle(peer, 'blocktxn', { blockHash: blocks[0]!.hash, txs });
    tipIs(blocks[0]!);
  });

  it('use transactions that recently left the mempool', async () => {
    const peer = await connect();
    world.pool.push(candidate(blocks[0]!, 1));
    for (const tx of [2, 3]) world.sync.extraTransactions.add(candidate(blocks[0]!, tx));
    await send(peer, blocks[0]!);
    tipIs(blocks[0]!);
  });

  it('in answer to a request are assembled too', async () => {
    const peer = await connect();
    await world.handle(peer, 'headers', { headers: [headerOf(blocks[0]!)] });
    expect(peer.take('getdata').flatMap(itemsOf)).toEqual([
      `${INV.compactBlock}:${blocks[0]!.hash.toString('hex')}`,
    ]);
    await send(peer, blocks[0]!);
    expect(peer.commands).toEqual(['getblocktxn']);
    // A second announcement has no effect, because the block is already requested.
    await send(peer, blocks[0]!);
    expect(peer.commands).toEqual(['getblocktxn']);
  });

  it('cause a request for headers if the parent is unknown', async () => {
    const peer = await connect();
    await send(peer, blocks[1]!);
    expect(peer.commands).toEqual(['getheaders']);
    expect(world.chain.index.headers.count).toBe(HEIGHT + 1);
  });

  it('cost the score of the verdict on their header', async () => {
    const peer = await connect();
    const message = buildCompactBlock(blocks[0]!, 5n, true);
    const header = Buffer.from(message.header);
    header.writeUInt32LE(0x1d00ffff, 104);
    await world.handle(peer, 'cmpctblock', { ...message, header });
    expect(peer.punishments).toEqual(['50 invalid header received via cmpctblock']);
  });

  it('ban a peer for an impossible message', async () => {
    const peer = await connect();
    const message = buildCompactBlock(blocks[0]!, 5n, true);
    const prefilled = [{ index: 9, raw: message.prefilled[0]!.raw }];
    await world.handle(peer, 'cmpctblock', { ...message, prefilled });
    expect(peer.punishments).toEqual(['100 invalid compact block']);
    expect(world.sync.inFlight.size).toBe(0);
  });

  it('are requested as whole blocks if two short ids are equal', async () => {
    const peer = await connect();
    const message = buildCompactBlock(blocks[0]!, 5n, true);
    const shortIds = Buffer.concat([message.shortIds.subarray(0, 6), message.shortIds.subarray(0, 12)]);
    await world.handle(peer, 'cmpctblock', { ...message, shortIds });
    expect(peer.punishments).toEqual([]);
    expect(peer.take('getdata').flatMap(itemsOf)).toEqual(wholeOf(blocks[0]!));
    await world.handle(peer, 'block', { raw: blocks[0]!.raw });
    tipIs(blocks[0]!);
  });

  it('are requested as whole blocks if a transaction of the mempool has the short id of another', async () => {
    const peer = await connect();
    const other = candidate(blocks[1]!, 1).bytes;
    world.pool.push({ wtxid: candidate(blocks[0]!, 1).wtxid, bytes: other });
    world.pool.push(...[2, 3].map((tx) => candidate(blocks[0]!, tx)));
    await send(peer, blocks[0]!);
    expect(peer.take('getdata').flatMap(itemsOf)).toEqual(wholeOf(blocks[0]!));
    // The request was cancelled, so the transactions and the block are ignored without a score.
    await world.handle(peer, 'blocktxn', { blockHash: blocks[0]!.hash, txs: [] });
    expect(peer.punishments).toEqual([]);
    await world.handle(peer, 'block', { raw: blocks[0]!.raw });
    tipIs(blocks[0]!);
  });

  it.each([
    ['too few', 1],
    ['too many', 3],
  ])('ban a peer that sends %s transactions', async (_name, count) => {
    const peer = await connect();
    world.pool.push(candidate(blocks[0]!, 1));
    await send(peer, blocks[0]!);
    const txs = [2, 3, 3].map((tx) => candidate(blocks[0]!, tx).bytes).slice(0, count);
    await world.handle(peer, 'blocktxn', { blockHash: blocks[0]!.hash, txs });
    expect(peer.goneReason).toContain('non-matching block transactions');
    expect(world.sync.inFlight.size).toBe(0);
  });

  it('are requested as whole blocks if the peer sends other transactions', async () => {
    const peer = await connect();
    await send(peer, blocks[0]!);
    const txs = [1, 3, 2].map((tx) => candidate(blocks[0]!, tx).bytes);
    await world.handle(peer, 'blocktxn', { blockHash: blocks[0]!.hash, txs });
    expect(peer.punishments).toEqual([]);
    expect(peer.take('getdata').flatMap(itemsOf)).toEqual(wholeOf(blocks[0]!));
  });

  it('ignore transactions that were not requested from this peer', async () => {
    const [peer, other] = [await connect(), await connect()];
    await send(peer, blocks[0]!);
    const txs = [1, 2, 3].map((tx) => candidate(blocks[0]!, tx).bytes);
    await world.handle(other, 'blocktxn', { blockHash: blocks[0]!.hash, txs });
    await world.handle(other, 'blocktxn', { blockHash: Buffer.alloc(32, 1), txs });
    expect(other.punishments).toEqual([]);
    expect(world.height).toBe(HEIGHT);
  });

  it('requested from one peer are assembled from the message of another, if nothing is missing', async () => {
    const [peer, other, third] = [await connect(), await connect(), await connect()];
    await send(peer, blocks[0]!);
    await send(other, blocks[0]!);
    expect(other.commands).toEqual([]);
    expect(world.height).toBe(HEIGHT);
    world.pool.push(...[1, 2, 3].map((tx) => candidate(blocks[0]!, tx)));
    await send(third, blocks[0]!);
    tipIs(blocks[0]!);
    expect(third.useful).toEqual(['block']);
    expect(world.sync.inFlight.size).toBe(0);
  });

  it('of a peer that owes us sixteen blocks are assembled only if nothing is missing', async () => {
    const peer = await connect();
    for (let id = 1; id <= 16; id++) world.sync.inFlight.request(peer, id);
    await send(peer, blocks[0]!);
    expect(peer.commands).toEqual([]);
    world.pool.push(...[1, 2, 3].map((tx) => candidate(blocks[0]!, tx)));
    await send(peer, blocks[0]!);
    tipIs(blocks[0]!);
  });

  it('are ignored if the block is known, or if the tip has more work', async () => {
    const peer = await connect();
    await world.chain.processBlock(blocks[0]!, true);
    // The announcement.
    expect(peer.sent.splice(0)).toHaveLength(1);
    await send(peer, blocks[0]!);
    expect(peer.commands).toEqual([]);
    const fork = await SyncWorld.open();
    try {
      await fork.copyFrom(source.world, 1, HEIGHT - 1);
      fork.world.timeSec += 100;
      await fork.mine(1);
      await send(peer, await fork.world.blockAt(HEIGHT));
    } finally {
      await fork.close();
    }
    expect(peer.commands).toEqual([]);
    expect(world.sync.inFlight.size).toBe(0);
  });

  it('that were requested, and do not exceed the tip any more, are requested as whole blocks', async () => {
    const fork = await SyncWorld.open();
    try {
      await fork.copyFrom(source.world, 1, HEIGHT);
      fork.world.timeSec += 100;
      await fork.mine(1);
      const peer = await connect();
      const beaten = await fork.world.blockAt(HEIGHT + 1);
      await world.handle(peer, 'headers', { headers: [headerOf(beaten)] });
      await world.chain.processBlock(blocks[0]!, true);
      peer.sent.length = 0;
      await send(peer, beaten);
      expect(peer.take('getdata').flatMap(itemsOf)).toEqual(wholeOf(beaten));
    } finally {
      await fork.close();
    }
  });

  it('far ahead of the tip are processed as headers', async () => {
    const peer = await connect();
    await world.handle(peer, 'headers', { headers: blocks.slice(0, 2).map(headerOf) });
    peer.sent.length = 0;
    await send(peer, blocks[2]!);
    expect(peer.take('getdata').flatMap(itemsOf)).toEqual(wholeOf(blocks[2]!));
    // A block that was requested is fetched whole.
    await send(peer, blocks[2]!);
    expect(peer.take('getdata').flatMap(itemsOf)).toEqual(wholeOf(blocks[2]!));
  });

  it('are ignored while the chain is far behind', async () => {
    const peer = await connect();
    world.world.timeSec += 21 * SPACING_SEC + 1000;
    await send(peer, blocks[0]!);
    expect(peer.commands).toEqual([]);
    expect(world.host.describe(peer)).toMatchObject({ syncedHeaders: HEIGHT + 1, inFlightHeights: [] });
  });

  it('with witness are ignored from peers that do not serve witnesses', async () => {
    const witness = await SyncWorld.open({ params: regtestWith({ forkHeights: ['segwit@2'] }) });
    try {
      const miner = await SyncWorld.open({ params: regtestWith({ forkHeights: ['segwit@2'] }) });
      await miner.mine(2);
      const [first, second] = [await miner.world.blockAt(1), await miner.world.blockAt(2)];
      await miner.close();
      await witness.chain.processBlock(first, true);
      const [plain, full] = [witness.connectQuiet(), witness.connectQuiet()];
      await witness.deliver(plain, 'sendcmpct', { announce: true, version: 1n });
      await witness.deliver(full, 'sendcmpct', { announce: true, version: 2n });
      await witness.handle(plain, 'cmpctblock', buildCompactBlock(second, 1n, false));
      expect(witness.height).toBe(1);
      await witness.handle(full, 'cmpctblock', buildCompactBlock(second, 1n, true));
      expect(witness.height).toBe(2);
    } finally {
      await witness.close();
    }
  });

  it('that are invalid are refused without a penalty', async () => {
    const peer = await connect();
    const block = await makeBlock(world.world, ({ coinbase }) => void (coinbase.outputs[0]!.value += 1n));
    await send(peer, block);
    expect(peer.rejects).toEqual([
      { command: 'block', code: REJECT_CODE.INVALID, reason: 'bad-cb-amount', hash: block.hash },
    ]);
    expect(peer.punishments).toEqual([]);
    expect(world.height).toBe(HEIGHT);
  });

  it('are ignored while blocks are imported', async () => {
    const peer = await connect();
    world.chain.importing = true;
    await send(peer, blocks[0]!);
    await world.handle(peer, 'blocktxn', { blockHash: blocks[0]!.hash, txs: [] });
    world.chain.importing = false;
    expect(peer.commands).toEqual([]);
    expect(await headersOf(world.world, HEIGHT, HEIGHT)).toHaveLength(1);
    expect(world.chain.index.headers.count).toBe(HEIGHT + 1);
  });
});

describe('ExtraTransactions', () => {
  it('keeps the configured number of transactions, or none', () => {
    const make = (byte: number) => ({ wtxid: Buffer.alloc(32, byte), bytes: Buffer.of(byte) });
    const extra = new ExtraTransactions({ capacity: 2 });
    for (const byte of [1, 2, 3]) extra.add(make(byte));
    expect(
      extra
        .all()
        .map(({ bytes }) => bytes[0])
        .sort(),
    ).toEqual([2, 3]);
    const none = new ExtraTransactions({ capacity: 0 });
    none.add(make(1));
    expect(none.all()).toEqual([]);
  });
});
