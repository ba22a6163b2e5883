/**
 * Projects the mempool into blocks, and derives fee rates from them, as mempool.space does. The fee rate of a transaction is
 * the lower of its own rate and the rate of the transaction together with its unconfirmed ancestors. Caches the last
 * projection. The projection is recomputed in time slices when the mempool has changed. A large mempool has a minimum
 * interval between two projections. Source: mempool backend mempool-blocks.ts, fee-api.ts.
 */
import { MAX_BLOCK_WEIGHT } from '../../consensus/limits.js';
import type { MempoolReader } from '../../mempool/mempoolReader.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { inSlices } from '../../scheduler/slices.js';
import { whenResolved, type MaybePromise } from '../../util/maybePromise.js';

/** Size of a projected block in virtual bytes. */
const BLOCK_VSIZE = MAX_BLOCK_WEIGHT / 4;
/** Maximum number of projected blocks. The last block contains all remaining transactions. Source: `MEMPOOL_BLOCKS_AMOUNT`. */
const MAX_BLOCKS = 8;
/** Percentiles (0 to 1) of the transactions' fee rates that are shown as the fee range of a block. */
const RANGE = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1] as const;
/**
 * The projection for a mempool with at most `FEW` transactions is recomputed after every change. For a larger mempool at
 * least `PAUSE_MS` milliseconds pass between two computations.
 */
const FEW = 2000;
const PAUSE_MS = 2000;

/** A projected block. Fee rates are in satoshis per virtual byte. */
export interface ProjectedBlock {
  readonly blockSize: number;
  readonly blockVSize: number;
  readonly nTx: number;
  readonly totalFees: bigint;
  readonly medianFee: number;
  /** Percentiles of the fee rates, in ascending order. */
  readonly feeRange: readonly number[];
}

/**
 * Position of a transaction in the projected blocks. `block`: number of the block. `vsize`: number of virtual bytes before
 * the middle of the transaction.
 */
export interface Position {
  readonly block: number;
  readonly vsize: number;
}

/** Recommended fee rates, in satoshis per virtual byte. */
export interface RecommendedFees {
  readonly fastestFee: number;
  readonly halfHourFee: number;
  readonly hourFee: number;
  readonly economyFee: number;
  readonly minimumFee: number;
}

interface Waiting {
  /** Transaction id in wire order, as latin1. */
  readonly key: string;
  readonly rate: number;
  readonly vsize: number;
  readonly weight: number;
  readonly feeSat: bigint;
}

type Pool = Pick<
  MempoolReader,
  'size' | 'changeCount' | 'txidsInSlices' | 'entry' | 'minFeeRatePerKb' | 'minRelayFeeRatePerKb'
>;

const rounded = (rate: number): number => Math.round(rate * 1000) / 1000;

function blockOf(transactions: readonly Waiting[]): ProjectedBlock {
  let vsize = 0;
  let weight = 0;
  let totalFees = 0n;
  for (const one of transactions) {
    vsize += one.vsize;
    weight += one.weight;
    totalFees += one.feeSat;
  }
  const rateAt = (share: number): number => {
    const target = vsize * (1 - share);
    let sum = 0;
    for (const one of transactions) {
      sum += one.vsize;
      if (sum >= target) return rounded(one.rate);
    }
    return rounded(transactions.at(-1)!.rate);
  };
  return {
    blockSize: vsize,
    blockVSize: weight / 4,
    nTx: transactions.length,
    totalFees,
    medianFee: rateAt(0.5),
    feeRange: RANGE.map((share) => (share === 0 ? rounded(transactions.at(-1)!.rate) : rateAt(share))),
  };
}

/** Fills projected blocks with the transactions by descending fee rate. */
export function projectBlocks(
  waiting: Waiting[],
  positions = new Map<string, Position>(),
  blockVSize = BLOCK_VSIZE,
): ProjectedBlock[] {
  waiting.sort((a, b) => b.rate - a.rate);
  const blocks: ProjectedBlock[] = [];
  let taken: Waiting[] = [];
  let vsize = 0;
  for (const one of waiting) {
    if (taken.length > 0 && vsize + one.vsize > blockVSize && blocks.length < MAX_BLOCKS - 1) {
      blocks.push(blockOf(taken));
      taken = [];
      vsize = 0;
    }
    positions.set(one.key, { block: blocks.length, vsize: vsize + one.vsize / 2 });
    taken.push(one);
    vsize += one.vsize;
  }
  if (taken.length > 0) blocks.push(blockOf(taken));
  return blocks;
}

/**
 * Recommended fee rates by urgency, in whole satoshis per virtual byte. `minRate` is the minimum rate of the mempool.
 * `minRate` is also recommended for a block that is less than half full. Source: `calculateRecommendedFee`,
 * `optimizeMedianFee`.
 */
export function recommendedFees(
  blocks: readonly ProjectedBlock[],
  minRate: number,
  blockVSize = BLOCK_VSIZE,
): RecommendedFees {
  const minimumFee = Math.max(1, Math.ceil(minRate));
  const median = (n: number, previous: number | null): number => {
    const block = blocks[n];
    if (block === undefined || block.blockVSize <= blockVSize / 2 || block.medianFee < minimumFee)
      return minimumFee;
    const rate = previous === null ? block.medianFee : (block.medianFee + previous) / 2;
    if (block.blockVSize <= blockVSize * 0.95 && blocks[n + 1] === undefined) {
      const share = (block.blockVSize - blockVSize / 2) / (blockVSize / 2);
      return Math.max(Math.round(rate * share), minimumFee);
    }
    return Math.max(Math.ceil(rate), minimumFee);
  };
  const first = median(0, null);
  const second = blocks[1] === undefined ? minimumFee : median(1, first);
  const third = blocks[2] === undefined ? minimumFee : median(2, second);
  const economyFee = Math.max(minimumFee, Math.min(2 * minimumFee, third));
  const hourFee = Math.max(minimumFee, third, economyFee);
  const halfHourFee = Math.max(second, hourFee);
  return { fastestFee: Math.max(first, halfHourFee), halfHourFee, hourFee, economyFee, minimumFee };
}

export class FeeProjection {
  private readonly pool: () => Pool;
  private made: {
    readonly changes: number;
    readonly atMs: number;
    readonly blocks: readonly ProjectedBlock[];
    readonly positions: ReadonlyMap<string, Position>;
  } | null = null;
  private making: Promise<readonly ProjectedBlock[]> | null = null;

  constructor(pool: () => Pool) {
    this.pool = pool;
  }

  /** Returns the current projection, which is recomputed if the mempool has changed. */
  blocks(): MaybePromise<readonly ProjectedBlock[]> {
    const { changeCount, size } = this.pool();
    const { made } = this;
    if (made !== null) {
      if (made.changes === changeCount) return made.blocks;
      if (size > FEW && performance.now() - made.atMs < PAUSE_MS) return made.blocks;
    }
    this.making ??= this.make().finally(() => (this.making = null));
    return this.making;
  }

  recommended(): MaybePromise<RecommendedFees> {
    const { minFeeRatePerKb, minRelayFeeRatePerKb } = this.pool();
    const lowest = minFeeRatePerKb > minRelayFeeRatePerKb ? minFeeRatePerKb : minRelayFeeRatePerKb;
    return whenResolved(this.blocks(), (blocks) => recommendedFees(blocks, Number(lowest) / 1000));
  }

  /** Position of a transaction in the last projection; null if the projection does not contain it. */
  positionOf(txid: Bytes): Position | null {
    return this.made?.positions.get(toLatin1(txid)) ?? null;
  }

  private async make(): Promise<readonly ProjectedBlock[]> {
    const pool = this.pool();
    const changes = pool.changeCount;
    const waiting: Waiting[] = [];
    let since = performance.now();
    for (const txid of await inSlices(pool.txidsInSlices())) {
      const entry = pool.entry(txid);
      since = await yieldIfDue(since);
      if (entry === null) continue;
      const own = Number(entry.modifiedFeeSat) / entry.sizeBytes;
      const together = Number(entry.ancestorFeesSat) / entry.ancestorSizeBytes;
      waiting.push({
        key: toLatin1(txid),
        rate: Math.min(own, together),
        vsize: entry.sizeBytes,
        weight: entry.weight,
        feeSat: entry.feeSat,
      });
    }
    const positions = new Map<string, Position>();
    const blocks = projectBlocks(waiting, positions);
    this.made = { changes, atMs: performance.now(), blocks, positions };
    return blocks;
  }
}
