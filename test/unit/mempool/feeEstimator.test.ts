import { afterEach, describe, expect, it } from 'vitest';
import { FeeEstimator, type FeeObserved } from '../../../src/mempool/fees/feeEstimator.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';
import { coinsOf, PoolWorld, spendCoins } from './support.js';

const SIZE = 100;

function observed(height: number, ratePerKb: number): FeeObserved {
  return { height, feeSat: BigInt((ratePerKb * SIZE) / 1000), sizeBytes: SIZE, feeBucket: -1 };
}

/** Fee rates of the traffic. Transactions of a rate are confirmed one block later than those of the next higher rate. */
const LEVELS = [2000, 4000, 8000, 16_000, 32_000];

/** Connects blocks with one new transaction of each rate. The lower its rate, the later a transaction is confirmed. */
function feed(fees: FeeEstimator, from: number, blocks: number): void {
  const waiting = new Map<number, FeeObserved[]>();
  for (let height = from; height < from + blocks; height++) {
    fees.connected(height, waiting.get(height) ?? []);
    waiting.delete(height);
    LEVELS.forEach((rate, level) => {
      const due = height + LEVELS.length - level;
      for (let n = 0; n < 4; n++) {
        const entry = observed(height, rate);
        fees.entered(entry, true);
        waiting.set(due, [...(waiting.get(due) ?? []), entry]);
      }
    });
  }
}

describe('the fee estimator', () => {
  it('has no estimate without data', () => {
    const fees = new FeeEstimator();
    expect(fees.highestTarget('short')).toBe(12);
    expect(fees.highestTarget('medium')).toBe(48);
    expect(fees.highestTarget('long')).toBe(1008);
    expect(fees.estimateSmartFee(6, true)).toEqual({ ratePerKb: 0n, blocks: 0 });
    expect(fees.estimateSmartFee(0, true)).toEqual({ ratePerKb: 0n, blocks: 0 });
    expect(fees.estimateSmartFee(1009, true)).toEqual({ ratePerKb: 0n, blocks: 1009 });
    expect(fees.estimateRawFee(6, 0.95, 'short')).toMatchObject({
      ratePerKb: 0n,
      detail: { decay: 0.962, scale: 1, pass: { startRate: -1 }, fail: { startRate: 0, endRate: 1e99 } },
    });
    expect(fees.estimateRawFee(13, 0.95, 'short')).toMatchObject({ ratePerKb: 0n, detail: { decay: 0 } });
  });

  it('logs what a block and an estimate did', () => {
    const lines: string[] = [];
    const fees = new FeeEstimator(undefined, {
      ...SILENT_LOGGER,
      debug: (category, message) =>
        void lines.push(`${category}: ${typeof message === 'string' ? message : message()}`),
    });
    feed(fees, 1, 200);
    expect(lines[1]).toBe(
      'estimatefee: FeeEst: block 2 confirmed 4 transactions of the mempool, 4 of them tracked; first recorded height 2, highest usable target 0',
    );
    lines.length = 0;
    fees.estimateRawFee(1, 0.95, 'short');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^estimatefee: FeeEst: 1 >95% decay 0\.96200: feerate: 32000 from \(\S+ - \S+\) 100\.00% \S+ 0 mem 0\.0 out\) Fail: \(\S+ - \S+\) 0\.00% /,
    );
  });

  it('reports confirmations within the target', () => {
    const fees = new FeeEstimator();
    feed(fees, 1, 200);
    LEVELS.forEach((rate, level) => {
      const target = LEVELS.length - level;
      expect(fees.estimateRawFee(target, 0.95, 'medium').ratePerKb, `within ${target}`).toBe(
        // The medium horizon has periods of two blocks, so the target is rounded up to the end of its period.
        target === 3 || target === 1 ? BigInt(rate / 2) : BigInt(rate),
      );
      expect(fees.estimateRawFee(target, 0.95, 'short').ratePerKb).toBe(BigInt(rate));
    });
    expect(fees.estimateSmartFee(1, false)).toEqual(fees.estimateSmartFee(2, false));
    // The estimate is the lowest rate at which half of the transactions are confirmed within one block and most within two.
    expect(fees.estimateSmartFee(2, false)).toEqual({ ratePerKb: 32_000n, blocks: 2 });
    expect(fees.estimateSmartFee(20, false)).toEqual({ ratePerKb: 2000n, blocks: 20 });
    // The target is limited to half of the observed blocks.
    expect(fees.estimateSmartFee(1008, true)).toEqual({ ratePerKb: 2000n, blocks: 99 });
  });

  it('counts unconfirmed transactions that left by their fee rate', () => {
    const fees = new FeeEstimator();
    feed(fees, 1, 100);
    expect(fees.estimateRawFee(6, 0.95, 'short').ratePerKb).toBe(2000n);
    let expensive: FeeObserved[] = [];
    let cheap: FeeObserved[] = [];
    for (let height = 100; height < 160; height++) {
      fees.connected(height, expensive);
      // In every other round, the cheap transactions are removed after ten blocks. The others remain unconfirmed.
      if (height % 20 === 0) for (const entry of cheap.splice(0)) expect(fees.left(entry)).toBe(true);
      expensive = Array.from({ length: 3 }, () => observed(height, 32_000));
      const more = Array.from({ length: 3 }, () => observed(height, 2000));
      for (const entry of [...expensive, ...more]) fees.entered(entry, true);
      if (height % 20 < 10) cheap = [...cheap, ...more];
    }
    const { ratePerKb, detail } = fees.estimateRawFee(6, 0.85, 'short');
    expect(ratePerKb).toBeGreaterThan(2000n);
    expect(detail.fail.inMempool).toBeGreaterThan(0);
    // A transaction that was removed after ten blocks counts as failed for targets of up to ten blocks only.
    const { failed, counts } = fees.finish([]).averages.short;
    const within = (blocks: number): number =>
      failed.subarray((blocks - 1) * counts.length, blocks * counts.length).reduce((a, b) => a + b);
    expect(within(10)).toBeGreaterThan(5);
    expect(within(1)).toBeGreaterThanOrEqual(within(10));
    expect(within(12)).toBeLessThan(within(10));
  });

  it('counts nothing twice, and nothing that left before', () => {
    const fees = new FeeEstimator();
    fees.connected(7, []);
    const entry = observed(7, 5000);
    fees.entered(entry, true);
    expect(entry.feeBucket).toBeGreaterThan(0);
    expect(fees.left(entry)).toBe(true);
    expect(fees.left(entry)).toBe(false);
    fees.connected(8, [entry]);
    const unreported = observed(8, 5000);
    fees.entered(unreported, false);
    const late = observed(7, 5000);
    fees.entered(late, true);
    expect([unreported.feeBucket, late.feeBucket]).toEqual([-1, -1]);
    fees.connected(9, [unreported, late]);
    expect(fees.finish([]).averages.short.counts.every((count) => count === 0)).toBe(true);
  });

  it('ignores old blocks', () => {
    const fees = new FeeEstimator();
    feed(fees, 1, 50);
    const before = fees.estimateRawFee(3, 0.85, 'short');
    const entry = observed(50, 9000);
    fees.entered(entry, true);
    fees.connected(50, [entry]);
    expect(fees.estimateRawFee(3, 0.85, 'short')).toEqual(before);
  });
});

describe('the mempool as it feeds the estimator', () => {
  let world: PoolWorld;
  afterEach(() => world.close());

  /** Number of transactions that have been unconfirmed for a block or longer. */
  const waiting = (): number => world.mempool.fees.estimateRawFee(1, 1, 'short').detail.fail.inMempool;

  it('counts independent transactions, and loses them with the mempool', async () => {
    world = await PoolWorld.open(110);
    await world.mineBlock([]);
    const first = spendCoins([await world.coinbase(1)], 1000n, { sequence: 0 });
    const child = spendCoins(coinsOf(first), 1000n);
    await world.mustAccept(first);
    await world.mustAccept(child);
    const other = spendCoins([await world.coinbase(2)], 1000n, { sequence: 0 });
    await world.mustAccept(other);
    const replacement = spendCoins([await world.coinbase(2)], 5000n);
    await world.mustAccept(replacement);
    await world.mineBlock([]);
    // The child and the replacement are not counted.
    expect(waiting()).toBe(1);
    await world.mineBlock([first]);
    expect(waiting()).toBe(0);
    expect(world.mempool.fees.estimateRawFee(2, 0.5, 'short').detail.fail.totalConfirmed).toBe(1);
  });

  it('ignores transactions of disconnected blocks, or while the tip is old', async () => {
    world = await PoolWorld.open(110);
    const back = spendCoins([await world.coinbase(1)], 1000n);
    await world.mineBlock([back]);
    await world.disconnectFrom(111);
    expect(world.ids()).toHaveLength(1);
    world.chain.timeSec += 4 * 60 * 60;
    await world.mustAccept(spendCoins([await world.coinbase(2)], 1000n));
    await world.mineBlock([]);
    await world.mineBlock([]);
    expect(waiting()).toBe(0);
    await world.mustAccept(spendCoins([await world.coinbase(3)], 1000n));
    await world.mineBlock([]);
    expect(waiting()).toBe(1);
  });
});
