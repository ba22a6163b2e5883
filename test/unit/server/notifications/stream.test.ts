import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { txid } from '../../../../src/primitives/transaction.js';
import type { BlockNotice } from '../../../../src/server/notifications/blockNotice.js';
import { NotificationStream } from '../../../../src/server/notifications/stream.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { OPEN_SCRIPT } from '../../../support/testChain.js';
import { coinsOf, spendCoins } from '../../mempool/support.js';
import {
  claimIdIn,
  claimScript,
  make,
  outputOf,
  supportScript,
  ReportedWorld,
  updateScript,
} from './support.js';

let world: ReportedWorld;
let reported: string[];

beforeEach(async () => {
  world = await ReportedWorld.open();
  reported = [];
  world.stream.listen({
    blockChanged: (block) => void reported.push(`${block.event} ${block.height}`),
    tipChanged: ({ height }) => void reported.push(`tip ${height}`),
    transactionAdded: (entry) => void reported.push(`added ${hashToHex(entry.txid)}`),
    transactionRemoved: (entry, reason) => void reported.push(`removed ${hashToHex(entry.txid)} ${reason}`),
  });
});
afterEach(() => world.close());

describe('the stream', () => {
  it('reports changes of chain and mempool in their order', async () => {
    const { pool } = world;
    const tx = spendCoins([await pool.coinbase(1)], 1000n);
    const rival = spendCoins([await pool.coinbase(1)], 2000n);
    const child = spendCoins(coinsOf(tx), 1000n);
    const [first, second] = [tx, child].map((made) => hashToHex(txid(made)));
    await pool.mustAccept(tx);
    await pool.mineMempool();
    await pool.mustAccept(child);
    expect(reported.splice(0)).toEqual([
      `added ${first}`,
      `removed ${first} block`,
      'connected 116',
      'tip 116',
      `added ${second}`,
    ]);
    const id = await pool.disconnectFrom(116);
    expect(reported.splice(0)).toEqual(['disconnected 116', `added ${first}`, 'tip 115']);
    // A branch with a conflicting spend of the coin. Then the first branch becomes active again with more work.
    await pool.mineBlock([rival]);
    expect(reported.splice(0)).toEqual([
      `removed ${first} conflict`,
      `removed ${second} conflict`,
      'connected 116',
      'tip 116',
    ]);
    await pool.reconsider(id);
    await pool.chain.opened.chain.preciousBlock(id);
    expect(reported.splice(0)).toEqual(['disconnected 116', 'connected 116', 'tip 116']);
  });

  it('isolates listeners from the errors of one', async () => {
    const errors: string[] = [];
    const stream = new NotificationStream(false, {
      ...SILENT_LOGGER,
      error: (message) => void errors.push(message),
    });
    stream.follow({ chain: world.pool.chain.opened.chain, mempool: world.pool.mempool });
    const received: number[] = [];
    stream.listen({
      tipChanged: () => {
        throw new Error('this listener is broken');
      },
    });
    const end = stream.listen({ tipChanged: ({ height }) => void received.push(height) });
    await world.pool.chain.mine(1);
    end();
    await world.pool.chain.mine(1);
    expect(received).toEqual([116]);
    expect(errors).toHaveLength(2);
    expect(errors[0]).toContain('this listener is broken');
  });
});

describe('claims of a block', () => {
  const name = Buffer.from('MindBlown');
  let blocks: BlockNotice[];
  beforeEach(() => {
    blocks = [];
    world.stream.listen({ blockChanged: (block) => void blocks.push(block) });
  });

  const claimsOf = (block: BlockNotice): Record<string, unknown>[] =>
    block.claims.map(({ json }) => JSON.parse(json) as Record<string, unknown>);

  it('are reported with all their data, and in reverse when the block is disconnected', async () => {
    const { pool } = world;
    // On regtest, names are normalized from block 250 on.
    await pool.chain.mine(135);
    blocks.length = 0;
    const claim = make([await world.coin()], claimScript(name));
    const claimId = claimIdIn(claim);
    await pool.mineBlock([claim]);
    const support = make([await world.coin()], supportScript(name, claimId));
    const update = make([outputOf(claim)], updateScript(name, claimId), 900_000n);
    const odd = make([await world.coin()], claimScript(Buffer.of(0xff, 0x41)), 1n);
    await pool.mineBlock([support, update, odd]);
    const spent = make([outputOf(update), outputOf(support)], OPEN_SCRIPT, 5n);
    await pool.mineBlock([spent]);

    const [first, second, third] = blocks.map(claimsOf);
    const place = (block: BlockNotice, index: number, events: number, disconnected = false) => ({
      disconnected,
      blockhash: hashToHex(block.hash),
      height: block.height,
      events,
      index,
    });
    const shown = hashToHex(claimId);
    expect(first).toEqual([
      {
        event: 'claim',
        ...place(blocks[0]!, 0, 2),
        name: 'MindBlown',
        normalized_name: 'mindblown',
        claimId: shown,
        txid: hashToHex(txid(claim)),
        n: 0,
        amount: 0.01,
        validAtHeight: 251,
        active: true,
      },
      {
        event: 'takeover',
        ...place(blocks[0]!, 1, 2),
        name: 'mindblown',
        claimId: shown,
        txid: hashToHex(txid(claim)),
        n: 0,
        amount: 0.01,
      },
    ]);
    expect(blocks[0]!.claims[0]!.json).toContain('"amount":0.01000000');
    expect(second!.map(({ event }) => event)).toEqual(['support', 'update', 'claim', 'takeover']);
    expect(second![1]).toMatchObject({ claimId: shown, txid: hashToHex(txid(update)), amount: 0.009 });
    expect(second![2]).toMatchObject({ name: '\\u00ffA', namehex: 'ff41', amount: 0.00000001 });
    expect(third).toEqual([
      {
        event: 'abandon',
        ...place(blocks[2]!, 0, 3),
        name: 'MindBlown',
        normalized_name: 'mindblown',
        claimId: shown,
        txid: hashToHex(txid(update)),
        n: 0,
        amount: 0.009,
        isSupport: false,
        validAtHeight: 252,
        spentBy: hashToHex(txid(spent)),
      },
      expect.objectContaining({ event: 'abandon', isSupport: true, txid: hashToHex(txid(support)) }),
      { event: 'takeover', ...place(blocks[2]!, 2, 3), name: 'mindblown', formerClaimId: shown },
    ]);

    blocks.length = 0;
    await pool.disconnectFrom(251);
    const undone = blocks.map(claimsOf);
    const reversed = (list: Record<string, unknown>[]) =>
      list.map((message) => ({ ...message, disconnected: true })).reverse();
    expect(undone).toEqual([reversed(third!), reversed(second!), reversed(first!)]);
  });

  it('are reported when they become active and when they expire', async () => {
    const { pool } = world;
    const owner = make([await world.coin()], claimScript(name));
    await pool.mineBlock([owner]);
    const height = 116;
    // After 64 blocks with the same owner, other claims are delayed by two blocks.
    await pool.chain.mine(64);
    const rival = make([await world.coin()], claimScript(name), 50_000_000n);
    await pool.mineBlock([rival]);
    blocks.length = 0;
    await pool.chain.mine(2);
    const [waiting, entering] = blocks.map(claimsOf);
    expect(waiting).toEqual([]);
    expect(entering!.map(({ event }) => event)).toEqual(['activation', 'takeover']);
    expect(entering![0]).toMatchObject({
      isSupport: false,
      claimId: hashToHex(claimIdIn(rival)),
      validAtHeight: height + 67,
      amount: 0.5,
    });
    expect(entering![1]).toMatchObject({
      claimId: hashToHex(claimIdIn(rival)),
      formerClaimId: hashToHex(claimIdIn(owner)),
    });
    // In this test, claims expire after 500 blocks.
    await pool.chain.mine(500 - 68);
    blocks.length = 0;
    await pool.chain.mine(1);
    expect(claimsOf(blocks[0]!)).toEqual([
      expect.objectContaining({ event: 'expiration', claimId: hashToHex(claimIdIn(owner)), amount: 0.01 }),
    ]);
    blocks.length = 0;
    await pool.disconnectFrom(height + 67);
    expect(
      blocks.map((block) => claimsOf(block).map(({ event }) => event)).filter((list) => list.length > 0),
    ).toEqual([['expiration'], ['takeover', 'activation']]);
  });
});
