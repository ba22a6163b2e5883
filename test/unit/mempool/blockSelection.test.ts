import { afterEach, describe, expect, it, vi } from 'vitest';
import type { BlockLimits } from '../../../src/mempool/mempoolReader.js';
import { txid, type Transaction } from '../../../src/primitives/transaction.js';
import { sha256 } from '../../../src/crypto/hash.js';
import { scriptForDestination } from '../../../src/script/standard.js';
import { hashToHex } from '../../../src/util/bytes.js';
import { coinsOf, PoolWorld, spendCoins } from './support.js';

describe('choosing the transactions of a block', () => {
  let world: PoolWorld;
  afterEach(() => {
    vi.restoreAllMocks();
    return world.close();
  });

  async function chosen(limits: Partial<BlockLimits> = {}): Promise<string[]> {
    const all: BlockLimits = {
      height: world.height + 1,
      lockTimeCutoffSec: world.chain.timeSec,
      includeWitness: true,
      maxWeight: 7_992_000,
      maxSigopsCost: 79_600,
      minFeeRatePerKb: 1000n,
      ...limits,
    };
    return (await world.mempool.selectForBlock(all)).map((tx) => hashToHex(tx.txid));
  }
  const ids = (...txs: Transaction[]): string[] => txs.map((tx) => hashToHex(txid(tx)));

  it('sorts by the fee rate of packages, parents before children', async () => {
    world = await PoolWorld.open(104);
    const middling = spendCoins([await world.coinbase(1)], 3000n);
    const poor = spendCoins([await world.coinbase(2)], 100n);
    const rich = spendCoins(coinsOf(poor), 20_000n);
    const best = spendCoins([await world.coinbase(3)], 15_000n);
    // A high fee rate of its own, but its parent is selected earlier. After that only its own rate counts.
    const heir = spendCoins(coinsOf(best), 2000n);
    for (const tx of [middling, poor, rich, best, heir]) await world.mustAccept(tx);
    expect(await chosen()).toEqual(ids(best, poor, rich, middling, heir));
  });

  it('observes weight and signature operations, and adds smaller packages', async () => {
    world = await PoolWorld.open(104);
    const big = spendCoins([await world.coinbase(1)], 90_000n, { padding: 2000 });
    const small = spendCoins([await world.coinbase(2)], 1000n);
    const sigops = spendCoins([await world.coinbase(3)], 50_000n, {
      script: Buffer.from('51ac', 'hex'),
      outputs: 5,
    });
    for (const tx of [big, small, sigops]) await world.mustAccept(tx);
    expect(await chosen()).toEqual(ids(sigops, big, small));
    const weight = (tx: Transaction): number => world.mempool.entry(txid(tx))!.weight;
    expect(await chosen({ maxWeight: weight(small) + weight(sigops) + 1 })).toEqual(ids(sigops, small));
    // A transaction that reaches the limit exactly is not selected.
    expect(await chosen({ maxWeight: weight(small) + weight(sigops) })).toEqual(ids(sigops));
    expect(await chosen({ maxSigopsCost: 20 })).toEqual(ids(big, small));
    expect(await chosen({ maxSigopsCost: 21 })).toEqual(ids(sigops, big, small));
  });

  it('excludes low fees, except with a fee delta', async () => {
    world = await PoolWorld.open(102);
    const low = spendCoins([await world.coinbase(1)], 61n);
    const good = spendCoins([await world.coinbase(2)], 1000n);
    for (const tx of [low, good]) await world.mustAccept(tx);
    expect(await chosen({ minFeeRatePerKb: 1001n })).toEqual(ids(good, low));
    expect(await chosen({ minFeeRatePerKb: 2000n })).toEqual(ids(good));
    world.mempool.prioritise(txid(low), 5000n);
    expect(await chosen({ minFeeRatePerKb: 2000n })).toEqual(ids(low, good));
    world.mempool.prioritise(txid(good), -5000n);
    expect(await chosen({ minFeeRatePerKb: 2000n })).toEqual(ids(low));
  });

  it('excludes witnesses before segwit', async () => {
    world = await PoolWorld.open(102);
    const script = scriptForDestination({ type: 'witness_v0_scripthash', hash: sha256(Buffer.of(0x51)) });
    const funding = spendCoins([await world.coinbase(1)], 0n, { script });
    await world.mineBlock([funding]);
    const spend = spendCoins(coinsOf(funding), 3000n);
    spend.inputs[0]!.witness = [Buffer.of(0x51)];
    const plain = spendCoins([await world.coinbase(2)], 1000n);
    for (const tx of [spend, plain]) await world.mustAccept(tx);
    expect(await chosen()).toEqual(ids(spend, plain));
    expect(await chosen({ includeWitness: false })).toEqual(ids(plain));
  });

  it('excludes locked transactions, with their descendants', async () => {
    world = await PoolWorld.open(102);
    const locked = spendCoins([await world.coinbase(1)], 1000n, { lockTime: 102, sequence: 0 });
    const heir = spendCoins(coinsOf(locked), 9000n);
    const free = spendCoins([await world.coinbase(2)], 1000n);
    for (const tx of [locked, heir, free]) await world.mustAccept(tx);
    expect(await chosen()).toEqual(ids(locked, heir, free));
    expect(await chosen({ height: 102 })).toEqual(ids(free));
  });

  it('counts a fee delta of an ancestor once', async () => {
    world = await PoolWorld.open(101);
    const parent = spendCoins([await world.coinbase(1)], 1000n, { outputs: 2 });
    const one = spendCoins([coinsOf(parent)[0]!], 2000n);
    const two = spendCoins([coinsOf(parent)[1]!, ...coinsOf(one)], 500n);
    for (const tx of [parent, one, two]) await world.mustAccept(tx);
    world.mempool.prioritise(txid(one), 50_000n);
    expect(await chosen({ minFeeRatePerKb: 6000n })).toEqual(ids(parent, one));
    expect(await chosen()).toEqual(ids(parent, one, two));
  });

  it('yields between slices, and starts over if the pool changes meanwhile', async () => {
    world = await PoolWorld.open(180, { checkEvery: 0 });
    const all: Transaction[] = [];
    for (let height = 1; height <= 70; height++)
      all.push(spendCoins([await world.coinbase(height)], BigInt(20_000 - height * 100)));
    for (const tx of all) await world.mustAccept(tx);
    await world.mempool.prepareForBlock();
    // Each reading of the clock ends a slice.
    let nowMs = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 20));
    /**
     * The selected transactions, and the number of iterations of the event loop meanwhile. `between` is called in each of them.
     */
    const choose = async (between: (turn: number) => void): Promise<{ order: string[]; turns: number }> => {
      let isOver = false;
      const choice = chosen().finally(() => (isOver = true));
      let turns = 0;
      for (; !isOver; turns++) {
        between(turns);
        await new Promise(setImmediate);
      }
      return { order: await choice, turns };
    };
    const still = await choose(() => undefined);
    expect(still.order).toEqual(ids(...all));
    expect(still.turns).toBeGreaterThanOrEqual(4);
    const once = await choose((turn) => {
      if (turn === 2) world.mempool.prioritise(txid(all[69]!), 100_000n);
    });
    expect(once.order).toEqual(ids(all[69]!, ...all.slice(0, 69)));
    // The selection ends although the priorities change again and again.
    let promised = 0;
    const often = await choose(() => {
      if (promised++ < 1000) world.mempool.prioritise(txid(all[0]!), 1n);
    });
    expect(often.order).toEqual(once.order);
    expect(often.turns).toBeLessThan(20);
  });
});
