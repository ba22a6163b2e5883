import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BlockLimits, MempoolEntry } from '../../../src/mempool/mempoolReader.js';
import { txid, type Transaction } from '../../../src/primitives/transaction.js';
import { hashToHex, toLatin1 } from '../../../src/util/bytes.js';
import { randomOf } from '../../support/claimLife.js';
import { coinsOf, PoolWorld, spendCoins, type Coin } from './support.js';

const MIN_FEE_RATE_PER_KB = 1000n;

describe('repeated selection while the mempool changes', () => {
  let world: PoolWorld;
  beforeAll(async () => {
    world = await PoolWorld.open(190, { checkEvery: 0 });
  });
  afterAll(() => world.close());

  const limits = (): BlockLimits => ({
    height: world.height + 1,
    lockTimeCutoffSec: world.chain.timeSec,
    includeWitness: true,
    maxWeight: 7_992_000,
    maxSigopsCost: 79_600,
    minFeeRatePerKb: MIN_FEE_RATE_PER_KB,
  });

  /** The definition of the rule: all packages are evaluated again for each selection. */
  function naive(): string[] {
    const { mempool } = world;
    const left = new Map<string, MempoolEntry>(
      mempool.txids().map((id) => [toLatin1(id), mempool.entry(id)!]),
    );
    const chosen: string[] = [];
    for (;;) {
      let best: { key: string; score: number; members: MempoolEntry[] } | null = null;
      for (const [key, entry] of left) {
        const members = mempool.ancestors(entry.txid).filter((one) => left.has(toLatin1(one.txid)));
        members.push(entry);
        const fees = members.reduce((sum, one) => sum + one.modifiedFeeSat, 0n);
        const size = members.reduce((sum, one) => sum + one.sizeBytes, 0);
        if (fees < (MIN_FEE_RATE_PER_KB * BigInt(size)) / 1000n) continue;
        const own = Number(entry.modifiedFeeSat) / entry.sizeBytes;
        const score = Math.min(own, Number(fees) / size);
        if (!best || score > best.score || (score === best.score && key < best.key))
          best = { key, score, members };
      }
      if (!best) return chosen;
      for (const one of best.members.sort((a, b) => a.ancestorCount - b.ancestorCount)) {
        left.delete(toLatin1(one.txid));
        chosen.push(hashToHex(one.txid));
      }
    }
  }

  it('gives the result of a selection from scratch', async () => {
    const random = randomOf(3);
    const coins: Coin[] = [];
    for (let height = 1; height <= 80; height++) coins.push(await world.coinbase(height));
    const waiting: Transaction[] = [];
    for (let round = 0; round < 60; round++) {
      for (let n = random(4); n > 0; n--) {
        const picked = Array.from({ length: 1 + random(2) }, () => coins.splice(random(coins.length), 1)[0]!);
        const tx = spendCoins(picked, BigInt(80 + random(20) * 50), { outputs: 1 + random(3) });
        if (!(await world.accept(tx)).accepted) continue;
        coins.push(...coinsOf(tx));
        waiting.push(tx);
      }
      const some = waiting[random(waiting.length || 1)];
      if (some && random(3) === 0) world.mempool.prioritise(txid(some), BigInt(random(4000) - 1000));
      if (random(12) === 0) {
        await world.mineMempool();
        waiting.length = 0;
      }
      expect(
        (await world.mempool.selectForBlock(limits())).map((tx) => hashToHex(tx.txid)),
        `round ${round}`,
      ).toEqual(naive());
    }
  });
});
