import { afterEach, describe, expect, it } from 'vitest';
import type { BlockLimits } from '../../../src/mempool/mempoolReader.js';
import { txid, type Transaction } from '../../../src/primitives/transaction.js';
import { sha256 } from '../../../src/crypto/hash.js';
import { scriptForDestination } from '../../../src/script/standard.js';
import { hashToHex } from '../../../src/util/bytes.js';
import { coinsOf, PoolWorld, spendCoins } from './support.js';

describe('choosing the transactions of a block', () => {
  let world: PoolWorld;
  afterEach(() => world.close());

  function chosen(limits: Partial<BlockLimits> = {}): string[] {
    const all: BlockLimits = {
      height: world.height + 1,
      lockTimeCutoffSec: world.chain.timeSec,
      includeWitness: true,
      maxWeight: 7_992_000,
      maxSigopsCost: 79_600,
      minFeeRatePerKb: 1000n,
      ...limits,
    };
    return world.mempool.selectForBlock(all).map((tx) => hashToHex(tx.txid));
  }
  const ids = (...txs: Transaction[]): string[] => txs.map((tx) => hashToHex(txid(tx)));

  it('goes by the fee rate of packages, parents before children', async () => {
    world = await PoolWorld.open(104);
    const middling = spendCoins([await world.coinbase(1)], 3000n);
    const poor = spendCoins([await world.coinbase(2)], 100n);
    const rich = spendCoins(coinsOf(poor), 20_000n);
    const best = spendCoins([await world.coinbase(3)], 15_000n);
    // Rich for itself, but its parent is chosen before: then it counts alone.
    const heir = spendCoins(coinsOf(best), 2000n);
    for (const tx of [middling, poor, rich, best, heir]) await world.mustAccept(tx);
    expect(chosen()).toEqual(ids(best, poor, rich, middling, heir));
  });

  it('heeds weight and signature operations, and takes what still fits', async () => {
    world = await PoolWorld.open(104);
    const big = spendCoins([await world.coinbase(1)], 90_000n, { padding: 2000 });
    const small = spendCoins([await world.coinbase(2)], 1000n);
    const sigops = spendCoins([await world.coinbase(3)], 50_000n, {
      script: Buffer.from('51ac', 'hex'),
      outputs: 5,
    });
    for (const tx of [big, small, sigops]) await world.mustAccept(tx);
    expect(chosen()).toEqual(ids(sigops, big, small));
    const weight = (tx: Transaction): number => world.mempool.entry(txid(tx))!.weight;
    expect(chosen({ maxWeight: weight(small) + weight(sigops) + 1 })).toEqual(ids(sigops, small));
    // The bounds themselves are out of reach.
    expect(chosen({ maxWeight: weight(small) + weight(sigops) })).toEqual(ids(sigops));
    expect(chosen({ maxSigopsCost: 20 })).toEqual(ids(big, small));
    expect(chosen({ maxSigopsCost: 21 })).toEqual(ids(sigops, big, small));
  });

  it('leaves out what pays too little, unless it was promised more', async () => {
    world = await PoolWorld.open(102);
    const low = spendCoins([await world.coinbase(1)], 61n);
    const good = spendCoins([await world.coinbase(2)], 1000n);
    for (const tx of [low, good]) await world.mustAccept(tx);
    expect(chosen({ minFeeRatePerKb: 1001n })).toEqual(ids(good, low));
    expect(chosen({ minFeeRatePerKb: 2000n })).toEqual(ids(good));
    world.mempool.prioritise(txid(low), 5000n);
    expect(chosen({ minFeeRatePerKb: 2000n })).toEqual(ids(low, good));
    world.mempool.prioritise(txid(good), -5000n);
    expect(chosen({ minFeeRatePerKb: 2000n })).toEqual(ids(low));
  });

  it('leaves out witnesses where they may not be', async () => {
    world = await PoolWorld.open(102);
    const script = scriptForDestination({ type: 'witness_v0_scripthash', hash: sha256(Buffer.of(0x51)) });
    const funding = spendCoins([await world.coinbase(1)], 0n, { script });
    await world.mineBlock([funding]);
    const spend = spendCoins(coinsOf(funding), 3000n);
    spend.inputs[0]!.witness = [Buffer.of(0x51)];
    const plain = spendCoins([await world.coinbase(2)], 1000n);
    for (const tx of [spend, plain]) await world.mustAccept(tx);
    expect(chosen()).toEqual(ids(spend, plain));
    expect(chosen({ includeWitness: false })).toEqual(ids(plain));
  });

  it('leaves out what is locked, with what depends on it', async () => {
    world = await PoolWorld.open(102);
    const locked = spendCoins([await world.coinbase(1)], 1000n, { lockTime: 102, sequence: 0 });
    const heir = spendCoins(coinsOf(locked), 9000n);
    const free = spendCoins([await world.coinbase(2)], 1000n);
    for (const tx of [locked, heir, free]) await world.mustAccept(tx);
    expect(chosen()).toEqual(ids(locked, heir, free));
    expect(chosen({ height: 102 })).toEqual(ids(free));
  });

  it('sees a promise to an ancestor only once', async () => {
    world = await PoolWorld.open(101);
    const parent = spendCoins([await world.coinbase(1)], 1000n, { outputs: 2 });
    const one = spendCoins([coinsOf(parent)[0]!], 2000n);
    const two = spendCoins([coinsOf(parent)[1]!, ...coinsOf(one)], 500n);
    for (const tx of [parent, one, two]) await world.mustAccept(tx);
    world.mempool.prioritise(txid(one), 50_000n);
    expect(chosen({ minFeeRatePerKb: 6000n })).toEqual(ids(parent, one));
    expect(chosen()).toEqual(ids(parent, one, two));
  });
});
