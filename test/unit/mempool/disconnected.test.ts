import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LoadedBlock } from '../../../src/chain/blocks/loadedBlock.js';
import { DisconnectedTransactions } from '../../../src/mempool/disconnectedTransactions.js';
import { formatTransaction, txid, type Transaction } from '../../../src/primitives/transaction.js';
import { toLatin1 } from '../../../src/util/bytes.js';
import { coinsOf, PoolWorld, spendCoins } from './support.js';

describe('disconnected transactions', () => {
  let world: PoolWorld;
  let first: LoadedBlock;
  let second: LoadedBlock;
  let transactions: Transaction[];
  beforeAll(async () => {
    world = await PoolWorld.open(101);
    const a = spendCoins([await world.coinbase(1)], 0n);
    const b = spendCoins(coinsOf(a), 0n);
    const c = spendCoins(coinsOf(b), 0n);
    transactions = [a, b, c];
    await world.mineBlock([a, b]);
    await world.mineBlock([c]);
    first = await world.chain.blockAt(102);
    second = await world.chain.blockAt(103);
  });
  afterAll(() => world.close());

  const keys = (...txs: Transaction[]): string[] => txs.map((tx) => toLatin1(txid(tx)));
  const coinbaseOf = (block: LoadedBlock): string => toLatin1(block.parsed.txids.subarray(0, 32));

  it('come out in the order of the chain', () => {
    const [a, b, c] = transactions as [Transaction, Transaction, Transaction];
    const queue = new DisconnectedTransactions();
    expect(queue.add(second)).toEqual([]);
    expect(queue.add(first)).toEqual([]);
    const all = queue.take();
    expect(all.map(({ key }) => key)).toEqual([
      coinbaseOf(first),
      ...keys(a, b),
      coinbaseOf(second),
      ...keys(c),
    ]);
    expect(all[1]!.bytes).toEqual(formatTransaction(a));
    expect(queue.size).toBe(0);
    expect(queue.take()).toEqual([]);
  });

  it('are forgotten once confirmed again', () => {
    const queue = new DisconnectedTransactions();
    queue.add(second);
    queue.add(first);
    queue.removeConfirmed(second);
    queue.removeConfirmed(second);
    expect(queue.take().map(({ key }) => key)).toEqual([
      coinbaseOf(first),
      ...keys(...transactions.slice(0, 2)),
    ]);
  });

  it('are abandoned from the end of the old branch when there are too many', () => {
    const [a, b, c] = transactions as [Transaction, Transaction, Transaction];
    const queue = new DisconnectedTransactions(2300);
    expect(queue.add(second)).toEqual([]);
    const dropped = queue.add(first).map(({ key }) => key);
    expect(dropped).toEqual(keys(c));
    expect(queue.take().map(({ key }) => key)).toEqual([
      coinbaseOf(first),
      ...keys(a, b),
      coinbaseOf(second),
    ]);
  });
});
