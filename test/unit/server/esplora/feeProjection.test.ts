/** Blocks to come and the fee rates that follow from them. */
import { describe, expect, it } from 'vitest';
import {
  FeeProjection,
  projectBlocks,
  recommendedFees,
  type Position,
} from '../../../../src/server/esplora/feeProjection.js';

const waiting = (rate: number, vsize = 100, key = `${rate}/${vsize}`) => ({
  key,
  rate,
  vsize,
  weight: vsize * 4,
  feeSat: BigInt(Math.round(rate * vsize)),
});

describe('projected blocks', () => {
  it('take the highest rates first, and report their rates', () => {
    const positions = new Map<string, Position>();
    const blocks = projectBlocks(
      [1, 5, 3, 2, 4].map((rate) => waiting(rate)),
      positions,
      200,
    );
    expect(blocks.map(({ nTx, totalFees, blockVSize }) => [nTx, totalFees, blockVSize])).toEqual([
      [2, 900n, 200],
      [2, 500n, 200],
      [1, 100n, 100],
    ]);
    expect(blocks[0]).toMatchObject({ feeRange: [4, 4, 4, 5, 5, 5, 5], medianFee: 5 });
    expect(positions.get('3/100')).toEqual({ block: 1, vsize: 50 });
  });

  it('have all remaining transactions in the last of eight', () => {
    const blocks = projectBlocks(
      Array.from({ length: 20 }, (_, n) => waiting(n + 1)),
      new Map(),
      100,
    );
    expect(blocks.map(({ nTx }) => nTx)).toEqual([1, 1, 1, 1, 1, 1, 1, 13]);
    expect(projectBlocks([])).toEqual([]);
  });
});

describe('recommended rates', () => {
  const blocks = (...rates: number[]) => rates.map((rate) => projectBlocks([waiting(rate, 1000)])[0]!);

  it('are the lowest while the next block is half empty', () => {
    const lowest = { fastestFee: 2, halfHourFee: 2, hourFee: 2, economyFee: 2, minimumFee: 2 };
    expect(recommendedFees([], 1.5)).toEqual(lowest);
    expect(recommendedFees(blocks(50), 1.5)).toEqual(lowest);
  });

  it('fall from block to block, and never rise with a later target', () => {
    expect(recommendedFees(blocks(50, 20, 10), 1, 1000)).toEqual({
      fastestFee: 50,
      halfHourFee: 35,
      hourFee: 23,
      economyFee: 2,
      minimumFee: 1,
    });
    // Three quarters full: half of the way.
    const [block] = projectBlocks([waiting(40, 1500)]);
    expect(recommendedFees([block!], 1, 2000).fastestFee).toBe(20);
  });
});

describe('a projection', () => {
  const pool = (entries: readonly { fee: bigint; ancestorFees: bigint }[]) => {
    let walks = 0;
    const ids = entries.map((_, n) => Buffer.alloc(32, n));
    return {
      walks: () => walks,
      size: entries.length,
      changeCount: 1,
      minFeeRatePerKb: 0n,
      minRelayFeeRatePerKb: 1000n,
      *txidsInSlices() {
        walks++;
        return ids;
      },
      entry: (txid: Uint8Array) => {
        const { fee, ancestorFees } = entries[txid[0]!]!;
        return {
          sizeBytes: 100,
          weight: 400,
          feeSat: fee,
          modifiedFeeSat: fee,
          ancestorFeesSat: ancestorFees,
          ancestorSizeBytes: 200,
        } as never;
      },
    };
  };

  it('counts a transaction with the fees of its ancestors, and is computed once for a state', async () => {
    const mempool = pool([
      { fee: 1000n, ancestorFees: 1100n },
      { fee: 800n, ancestorFees: 4000n },
    ]);
    const projection = new FeeProjection(() => mempool);
    const [first, second] = await Promise.all([projection.blocks(), projection.blocks()]);
    expect(first).toBe(second);
    expect(first[0]).toMatchObject({ nTx: 2, totalFees: 1800n, feeRange: [5.5, 5.5, 5.5, 8, 8, 8, 8] });
    await projection.blocks();
    expect(mempool.walks()).toBe(1);
    mempool.changeCount++;
    await projection.blocks();
    expect(mempool.walks()).toBe(2);
    expect(projection.positionOf(Buffer.alloc(32, 1))).toEqual({ block: 0, vsize: 50 });
    expect(projection.positionOf(Buffer.alloc(32, 9))).toBeNull();
  });
});
