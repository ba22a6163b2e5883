import { afterEach, describe, expect, it } from 'vitest';
import { txid } from '../../../src/primitives/transaction.js';
import { hashToHex } from '../../../src/util/bytes.js';
import { coinsOf, PoolWorld, spendCoins } from './support.js';

describe('the mempool during a reorganisation', () => {
  let world: PoolWorld;
  afterEach(() => world.close());

  it('gets the transactions of disconnected blocks, in order, regardless of fees', async () => {
    world = await PoolWorld.open(101);
    const parent = spendCoins([await world.coinbase(1)], 0n, { outputs: 2 });
    const child = spendCoins(coinsOf(parent), 0n);
    await world.mineBlock([parent, child]);
    expect(world.mempool.size).toBe(0);
    await world.disconnectFrom(102);
    expect(world.ids()).toEqual([hashToHex(txid(parent)), hashToHex(txid(child))].sort());
    const entry = world.mempool.entry(txid(parent))!;
    expect(entry).toMatchObject({ descendantCount: 2, ancestorCount: 1, entryHeight: 101 });
    expect(world.mempool.entry(txid(child))).toMatchObject({ ancestorCount: 2, parents: [txid(parent)] });
    await world.mempool.check();
  });

  it('lists them in the same order before and after', async () => {
    world = await PoolWorld.open(103);
    const listed = (): string[] => [...world.mempool.txids()].map(hashToHex);
    const cheap = spendCoins([await world.coinbase(1)], 1000n);
    const better = spendCoins([await world.coinbase(2)], 2000n);
    for (const tx of [cheap, better]) await world.mustAccept(tx);
    const child = spendCoins(coinsOf(better), 9000n);
    await world.mustAccept(child);
    const [low, high, last] = [cheap, better, child].map((tx) => hashToHex(txid(tx)));
    expect(listed()).toEqual([high, low, last]);
    await world.mineBlock([better]);
    expect(listed()).toEqual([last, low]);
    await world.disconnectFrom(world.height);
    expect(listed()).toEqual([high, low, last]);
  });

  it('links children that arrived before their parents returned', async () => {
    world = await PoolWorld.open(101);
    const parent = spendCoins([await world.coinbase(1)], 1000n, { outputs: 2 });
    const middle = spendCoins([coinsOf(parent)[0]!], 2000n);
    await world.mineBlock([parent, middle]);
    const child = spendCoins([coinsOf(parent)[1]!, coinsOf(middle)[0]!], 4000n);
    const grandchild = spendCoins(coinsOf(child), 8000n);
    await world.mustAccept(child);
    await world.mustAccept(grandchild);
    await world.disconnectFrom(102);
    expect(world.mempool.entry(txid(parent))).toMatchObject({
      descendantCount: 4,
      descendantFeesSat: 15000n,
    });
    expect(world.mempool.entry(txid(grandchild))).toMatchObject({
      ancestorCount: 4,
      ancestorFeesSat: 15000n,
    });
    await world.mempool.check();
  });

  it('removes spends of a missing or immature coinbase, with descendants', async () => {
    world = await PoolWorld.open(103);
    const young = spendCoins([await world.coinbase(4)], 1000n);
    const heir = spendCoins(coinsOf(young), 1000n);
    const old = spendCoins([await world.coinbase(2)], 1000n);
    for (const tx of [young, heir, old]) await world.mustAccept(tx);
    await world.disconnectFrom(103);
    expect(world.ids()).toEqual([hashToHex(txid(old))]);
  });

  it('removes transactions that are locked again', async () => {
    world = await PoolWorld.open(103);
    const absolute = spendCoins([await world.coinbase(1)], 1000n, { lockTime: 103, sequence: 0xfffffffe });
    const relative = spendCoins([await world.coinbase(2)], 1000n, { sequence: 102 });
    const free = spendCoins([await world.coinbase(3)], 1000n);
    for (const tx of [absolute, relative, free]) await world.mustAccept(tx);
    await world.disconnectFrom(103);
    expect(world.ids()).toEqual([hashToHex(txid(free))]);
  });

  it('removes conflicts with the new branch, and transactions of the new branch', async () => {
    world = await PoolWorld.open(101);
    const coin = await world.coinbase(1);
    const lost = spendCoins([coin], 1000n);
    const heir = spendCoins(coinsOf(lost), 1000n);
    const winner = spendCoins([coin], 2000n);
    await world.mineBlock([lost, heir]);
    const old = await world.disconnectFrom(102);
    expect(world.mempool.size).toBe(2);
    await world.mineBlock([winner]);
    expect(world.mempool.size).toBe(0);
    await world.mineBlock([]);
    await world.reconsider(old);
    expect(world.height).toBe(103);
    expect(world.mempool.size).toBe(0);
    await world.disconnectFrom(102);
    // The old branch is active again: its transactions are confirmed, and those of the other branch conflict with them.
    expect(world.height).toBe(102);
    expect(world.mempool.size).toBe(0);
    await world.mempool.check();
  });

  it('takes back a transaction that had replaced another one', async () => {
    world = await PoolWorld.open(101);
    const coin = await world.coinbase(1);
    const first = spendCoins([coin], 5000n, { sequence: 0 });
    await world.mustAccept(first);
    const confirmed = spendCoins([coin], 1000n);
    await world.mineBlock([confirmed]);
    expect(world.mempool.size).toBe(0);
    await world.disconnectFrom(102);
    expect(world.ids()).toEqual([hashToHex(txid(confirmed))]);
  });

  it('notifies the caller of the chain when all is done', async () => {
    world = await PoolWorld.open(101);
    const tx = spendCoins([await world.coinbase(1)], 1000n);
    await world.mineBlock([tx]);
    const sizes: number[] = [];
    world.chain.opened.chain.events.on('tipChanged', () => sizes.push(world.mempool.size));
    await world.disconnectFrom(102);
    expect(sizes).toEqual([1]);
  });
});
