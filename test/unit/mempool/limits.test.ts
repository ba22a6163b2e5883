import { afterEach, describe, expect, it } from 'vitest';
import { feeAtRate, feeRateOf, formatFeeRate } from '../../../src/mempool/feeRate.js';
import { RollingFee } from '../../../src/mempool/rollingFee.js';
import { txid } from '../../../src/primitives/transaction.js';
import { hashToHex } from '../../../src/util/bytes.js';
import { coinsOf, PoolWorld, spendCoins } from './support.js';

describe('a full mempool', () => {
  let world: PoolWorld;
  afterEach(() => world.close());

  it('evicts the packages with the lowest rate and raises its minimum above it', async () => {
    world = await PoolWorld.open(112, { maxUsageBytes: 12_500 });
    const poor = spendCoins([await world.coinbase(1)], 100n);
    const rescued = spendCoins([await world.coinbase(2)], 200n);
    const rescuer = spendCoins(coinsOf(rescued), 50_000n);
    for (const tx of [poor, rescued, rescuer]) await world.mustAccept(tx);
    const rich = [];
    for (let height = 3; height <= 12; height++) {
      const tx = spendCoins([await world.coinbase(height)], BigInt(height) * 1000n);
      rich.push(tx);
      await world.mustAccept(tx);
    }
    expect(world.mempool.usageBytes).toBeLessThanOrEqual(12_500);
    expect(world.mempool.entry(txid(poor))).toBeNull();
    for (const tx of [rescued, rescuer]) expect(world.mempool.entry(txid(tx))).not.toBeNull();
    const lost = rich.findIndex((tx) => world.mempool.entry(txid(tx)) !== null);
    // The minimum is the highest fee rate of the removed transactions plus the increment.
    const fee = lost === 0 ? 100n : BigInt(lost + 2) * 1000n;
    expect(world.mempool.minFeeRatePerKb).toBe(feeRateOf(fee, 61) + 1000n);
    const cheap = spendCoins([await world.coinbase(1)], fee);
    expect(await world.refusal(cheap)).toBe('66: mempool min fee not met');
    await world.mempool.check();
  });

  it('refuses a transaction that would be evicted first', async () => {
    world = await PoolWorld.open(105, { maxUsageBytes: 4200 });
    for (const height of [1, 2, 3]) {
      await world.mustAccept(spendCoins([await world.coinbase(height)], 10_000n));
    }
    expect(await world.refusal(spendCoins([await world.coinbase(4)], 1000n))).toBe('66: mempool full');
    expect(world.mempool.size).toBe(3);
  });

  it('expires old transactions, with their descendants', async () => {
    world = await PoolWorld.open(103, { expirySec: 1000 });
    const old = spendCoins([await world.coinbase(1)], 1000n);
    await world.mustAccept(old);
    world.chain.timeSec += 900;
    await world.mustAccept(spendCoins(coinsOf(old), 1000n));
    const young = spendCoins([await world.coinbase(2)], 1000n);
    await world.mustAccept(young);
    world.chain.timeSec += 101;
    const last = spendCoins([await world.coinbase(3)], 1000n);
    await world.mustAccept(last);
    expect(world.ids()).toEqual([young, last].map((tx) => hashToHex(txid(tx))).sort());
  });
});

describe('the rolling fee', () => {
  const LIMIT = 1000;

  it('stands until a block comes, then halves every twelve hours', () => {
    const rolling = new RollingFee(1000n, 0);
    expect(rolling.current(0, LIMIT, LIMIT)).toBe(0n);
    rolling.raise(8000n);
    rolling.raise(7000n);
    expect(rolling.current(1_000_000, LIMIT, LIMIT)).toBe(8000n);
    rolling.noteBlock(1_000_000);
    expect(rolling.current(1_000_010, LIMIT, LIMIT)).toBe(8000n);
    expect(rolling.current(1_043_200, LIMIT, LIMIT)).toBe(4000n);
    expect(rolling.current(1_043_200 + 86_400, LIMIT, LIMIT)).toBe(1000n);
  });

  it('falls faster if there is space, and ends below half the increment', () => {
    const half = new RollingFee(1000n, 0);
    half.raise(8000n);
    half.noteBlock(0);
    expect(half.current(21_600, 499, LIMIT)).toBe(4000n);
    const quarter = new RollingFee(1000n, 0);
    quarter.raise(8000n);
    quarter.noteBlock(0);
    expect(quarter.current(10_800, 249, LIMIT)).toBe(4000n);
    // While the minimum is not zero, it is not below the increment.
    expect(quarter.current(10_800 * 4, 249, LIMIT)).toBe(1000n);
    expect(quarter.current(10_800 * 5 + 100, 249, LIMIT)).toBe(0n);
    expect(quarter.current(10_800 * 6, 249, LIMIT)).toBe(0n);
  });
});

describe('fee rates', () => {
  it('round as the reference rounds', () => {
    expect(feeRateOf(1000n, 61)).toBe(16393n);
    expect(feeRateOf(-1n, 3)).toBe(-333n);
    expect(feeRateOf(5n, 0)).toBe(0n);
    expect(feeAtRate(1000n, 61)).toBe(61n);
    expect(feeAtRate(1n, 61)).toBe(1n);
    expect(feeAtRate(-1n, 61)).toBe(-1n);
    expect(feeAtRate(0n, 61)).toBe(0n);
    expect(feeAtRate(1n, 0)).toBe(0n);
  });

  it('are shown in coins', () => {
    expect(formatFeeRate(16393n)).toBe('0.00016393 LBC/kB');
    expect(formatFeeRate(1_234_567_890n)).toBe('12.34567890 LBC/kB');
    expect(formatFeeRate(-333n)).toBe('0.-0000333 LBC/kB');
  });
});
