/**
 * Estimates the fee rate with which a transaction confirms within a number of blocks. The estimates are based on observed
 * transactions, confirmed or not, over three horizons of up to 1,008 blocks. Memory use is constant, because only averages
 * and counts by fee rate bucket are stored. The bucket of an unconfirmed transaction is stored in its mempool entry. Source:
 * lbrycrd policy/fees.cpp `CBlockPolicyEstimator`.
 */
import { SILENT_LOGGER, type Logger } from '../../util/logging.js';
import { feeRateOf } from '../feeRate.js';
import type { PoolEntry } from '../poolEntry.js';
import {
  ConfirmStats,
  emptyAverages,
  NO_RANGE,
  type BucketRange,
  type ConfirmAverages,
  type RangeEstimate,
} from './confirmStats.js';

/** Names of the horizons (the reference's `FeeEstimateHorizon`), in the order of results. */
export const FEE_HORIZONS = ['short', 'medium', 'long'] as const;
export type FeeHorizon = (typeof FEE_HORIZONS)[number];

/**
 * Number of periods, blocks per period, and decay per block of each horizon. The half-lives are about 18, 144 and 1,008
 * blocks. Source: `SHORT_DECAY`, `MED_DECAY`, `LONG_DECAY`.
 */
const SHAPES = {
  short: { periods: 12, scale: 1, decay: 0.962 },
  medium: { periods: 24, scale: 2, decay: 0.9952 },
  long: { periods: 42, scale: 24, decay: 0.99931 },
} as const;
/**
 * Minimum average number of transactions per block in a range of buckets that is evaluated. Source: `SUFFICIENT_FEETXS`,
 * `SUFFICIENT_TXS_SHORT`.
 */
const SUFFICIENT_TXS = { short: 0.5, medium: 0.1, long: 0.1 } as const;
/**
 * Share of transactions that must be confirmed within half the target (`HALF_SUCCESS`), the target (`SUCCESS`) and twice the
 * target (`DOUBLE_SUCCESS`).
 */
const HALF_SUCCESS = 0.6;
const SUCCESS = 0.85;
const DOUBLE_SUCCESS = 0.95;
/** Maximum age in blocks of fee data that is loaded from a file. Source: `OLDEST_ESTIMATE_HISTORY`. */
const OLDEST_HISTORY_BLOCKS = 6 * 1008;

/** Range of the bucket bounds, in satoshis per 1,000 virtual bytes. */
const MIN_BUCKET_RATE = 1000;
const MAX_BUCKET_RATE = 1e7;
const BUCKET_SPACING = 1.05;
/** Upper bound of the last bucket. Source: `INF_FEERATE`. */
const INFINITE_RATE = 1e99;

/** Fee data that is stored on disk between two runs of the node. */
export interface FeeHistory {
  /** Height of the last block that the fee data covers. */
  readonly bestHeight: number;
  /** Heights of the first and last block from which the data was collected. */
  readonly firstHeight: number;
  readonly lastHeight: number;
  /** Upper bounds of the buckets' fee rates, ascending. */
  readonly buckets: Float64Array;
  readonly averages: Readonly<Record<FeeHorizon, ConfirmAverages>>;
}

/** Fields of a mempool transaction that the fee estimator uses. */
export type FeeObserved = Pick<PoolEntry, 'height' | 'feeSat' | 'sizeBytes' | 'feeBucket'>;

/** Fee estimates for other components. Rates in satoshis per 1,000 virtual bytes; 0 without an estimate. */
export interface FeeEstimates {
  /** Highest confirmation target that a horizon supports, in blocks. */
  highestTarget(horizon: FeeHorizon): number;
  /**
   * Estimates the fee rate for a target. A target outside 1 to 1,008 gives no result. `blocks` is the target for which the
   * estimate is valid.
   */
  estimateSmartFee(targetBlocks: number, conservative: boolean): { ratePerKb: bigint; blocks: number };
  estimateRawFee(
    targetBlocks: number,
    threshold: number,
    horizon: FeeHorizon,
  ): { ratePerKb: bigint; detail: RangeEstimate };
}

type Stats = Readonly<Record<FeeHorizon, ConfirmStats>>;

function standardBuckets(): Float64Array {
  const bounds: number[] = [];
  for (let bound = MIN_BUCKET_RATE; bound <= MAX_BUCKET_RATE; bound *= BUCKET_SPACING) bounds.push(bound);
  return Float64Array.of(...bounds, INFINITE_RATE);
}

function emptyHistory(): FeeHistory {
  const buckets = standardBuckets();
  const blank = (horizon: FeeHorizon): ConfirmAverages => emptyAverages(buckets.length, SHAPES[horizon]);
  return {
    bestHeight: 0,
    firstHeight: 0,
    lastHeight: 0,
    buckets,
    averages: { short: blank('short'), medium: blank('medium'), long: blank('long') },
  };
}

export class FeeEstimator implements FeeEstimates {
  private readonly log: Logger;
  private readonly buckets: Float64Array;
  private readonly stats: Stats;
  private readonly historyFirst: number;
  private readonly historyLast: number;
  private bestHeight: number;
  /** Height of the first block since the start from which data was collected; 0 if there is none. */
  private firstHeight = 0;

  /** Creates an estimator with the data of an earlier run. The arrays in `history` are not copied. */
  constructor(history: FeeHistory = emptyHistory(), log: Logger = SILENT_LOGGER) {
    this.log = log;
    const { buckets, averages } = history;
    this.buckets = buckets;
    this.stats = {
      short: new ConfirmStats(buckets, averages.short),
      medium: new ConfirmStats(buckets, averages.medium),
      long: new ConfirmStats(buckets, averages.long),
    };
    this.bestHeight = history.bestHeight;
    this.historyFirst = history.firstHeight;
    this.historyLast = history.lastHeight;
  }

  private each(act: (stats: ConfirmStats) => void): void {
    act(this.stats.medium);
    act(this.stats.short);
    act(this.stats.long);
  }

  /** Index of the first bucket whose upper bound is not below the rate. */
  private bucketOf(rate: number): number {
    let [low, high] = [0, this.buckets.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.buckets[middle]! < rate) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Called when a transaction enters the mempool. `isTelling` means that its fee counts for estimates: the transaction is
   * neither a replacement nor returned from a block, spends no unconfirmed output, and the node is in sync. Source:
   * `processTransaction`.
   */
  entered(entry: FeeObserved, isTelling: boolean): void {
    if (!isTelling || entry.height !== this.bestHeight) return;
    const bucket = this.bucketOf(Number(feeRateOf(entry.feeSat, entry.sizeBytes)));
    entry.feeBucket = bucket;
    this.each((stats) => stats.enter(entry.height, bucket));
  }

  /** Called when a transaction leaves the mempool. Returns whether the estimator had counted it. Source: `removeTx`. */
  left(entry: FeeObserved, isConfirmed = false): boolean {
    const bucket = entry.feeBucket;
    if (bucket < 0) return false;
    entry.feeBucket = -1;
    this.each((stats) => stats.leave(entry.height, this.bestHeight, bucket, isConfirmed));
    return true;
  }

  /** Called when a block confirms these entries. They must still be in the mempool. Source: `processBlock`. */
  connected(height: number, entries: readonly FeeObserved[]): void {
    // A block that is not above the best height belongs to another branch and provides no new data.
    if (height <= this.bestHeight) return;
    this.bestHeight = height;
    this.each((stats) => stats.age(height));
    let counted = 0;
    for (const entry of entries) {
      const bucket = entry.feeBucket;
      const blocks = height - entry.height;
      if (!this.left(entry, true) || blocks <= 0) continue;
      const rate = Number(feeRateOf(entry.feeSat, entry.sizeBytes));
      this.each((stats) => stats.record(blocks, bucket, rate));
      counted++;
    }
    if (this.firstHeight === 0 && counted > 0) this.firstHeight = height;
    this.log.debug(
      'estimatefee',
      () =>
        `FeeEst: block ${height} confirmed ${entries.length} transactions of the mempool, ${counted} of them tracked; first recorded height ${this.firstHeight}, highest usable target ${this.highestUsableTarget}`,
    );
  }

  highestTarget(horizon: FeeHorizon): number {
    return this.stats[horizon].maxConfirms;
  }

  private get blockSpan(): number {
    return this.firstHeight === 0 ? 0 : this.bestHeight - this.firstHeight;
  }

  private get historySpan(): number {
    if (this.historyFirst === 0 || this.bestHeight - this.historyLast > OLDEST_HISTORY_BLOCKS) return 0;
    return this.historyLast - this.historyFirst;
  }

  /**
   * Highest target with enough data: half of the number of observed blocks, so that transactions had time to fail. Source:
   * `MaxUsableEstimate`.
   */
  private get highestUsableTarget(): number {
    const seen = Math.max(this.blockSpan, this.historySpan);
    return Math.min(this.stats.long.maxConfirms, Math.floor(seen / 2));
  }

  private rateAt(horizon: FeeHorizon, target: number, share: number): number {
    return this.judge(horizon, target, share).ratePerKb;
  }

  private judge(horizon: FeeHorizon, target: number, share: number): RangeEstimate {
    const estimate = this.stats[horizon].estimate(target, SUFFICIENT_TXS[horizon], share, this.bestHeight);
    this.log.debug('estimatefee', () => describeEstimate(target, share, estimate));
    return estimate;
  }

  estimateRawFee(
    target: number,
    threshold: number,
    horizon: FeeHorizon,
  ): { ratePerKb: bigint; detail: RangeEstimate } {
    const stats = this.stats[horizon];
    if (target <= 0 || target > stats.maxConfirms || threshold > 1) {
      const detail = { ratePerKb: -1, pass: NO_RANGE, fail: NO_RANGE, decay: 0, scale: 0 };
      return { ratePerKb: 0n, detail };
    }
    const detail = this.judge(horizon, target, threshold);
    return { ratePerKb: wholeRate(detail.ratePerKb), detail };
  }

  /**
   * Estimate of the shortest horizon that covers the target; −1 without an estimate. With `looksShorter`, a shorter
   * horizon's estimate for its highest target is used instead if it is lower. Source: `estimateCombinedFee`.
   */
  private combined(target: number, share: number, looksShorter: boolean): number {
    const { short, medium, long } = this.stats;
    if (target < 1 || target > long.maxConfirms) return -1;
    const horizon = target <= short.maxConfirms ? 'short' : target <= medium.maxConfirms ? 'medium' : 'long';
    let rate = this.rateAt(horizon, target, share);
    if (!looksShorter) return rate;
    for (const shorter of ['medium', 'short'] as const) {
      const end = this.stats[shorter].maxConfirms;
      if (target <= end) continue;
      const other = this.rateAt(shorter, end, share);
      if (other > 0 && (rate === -1 || other < rate)) rate = other;
    }
    return rate;
  }

  /** Estimate of the longer horizons for twice the target; −1 if there is none. Source: `estimateConservativeFee`. */
  private conservative(doubleTarget: number): number {
    const { short, medium } = this.stats;
    let rate = -1;
    if (doubleTarget <= short.maxConfirms) rate = this.rateAt('medium', doubleTarget, DOUBLE_SUCCESS);
    if (doubleTarget <= medium.maxConfirms) {
      rate = Math.max(rate, this.rateAt('long', doubleTarget, DOUBLE_SUCCESS));
    }
    return rate;
  }

  estimateSmartFee(targetBlocks: number, conservative: boolean): { ratePerKb: bigint; blocks: number } {
    if (targetBlocks <= 0 || targetBlocks > this.stats.long.maxConfirms) {
      return { ratePerKb: 0n, blocks: targetBlocks };
    }
    // The minimum target is 2, because no fee guarantees confirmation in the next block.
    const target = Math.min(Math.max(targetBlocks, 2), this.highestUsableTarget);
    if (target <= 1) return { ratePerKb: 0n, blocks: target };
    let rate = this.combined(Math.floor(target / 2), HALF_SUCCESS, true);
    rate = Math.max(rate, this.combined(target, SUCCESS, true));
    rate = Math.max(rate, this.combined(2 * target, DOUBLE_SUCCESS, !conservative));
    if (conservative || rate === -1) rate = Math.max(rate, this.conservative(2 * target));
    return { ratePerKb: wholeRate(rate), blocks: target };
  }

  /**
   * Returns the data to store at shutdown, after counting all unconfirmed transactions as failed. Source:
   * `FlushUnconfirmed`, `Write`.
   */
  finish(waiting: Iterable<FeeObserved>): FeeHistory {
    for (const entry of waiting) this.left(entry);
    const isOwn = this.blockSpan > Math.floor(this.historySpan / 2);
    const { short, medium, long } = this.stats;
    return {
      bestHeight: this.bestHeight,
      firstHeight: isOwn ? this.firstHeight : this.historyFirst,
      lastHeight: isOwn ? this.bestHeight : this.historyLast,
      buckets: this.buckets,
      averages: { short: short.averages, medium: medium.averages, long: long.averages },
    };
  }
}

/** Rounds a fee rate half up; 0 if no estimate exists. */
function wholeRate(rate: number): bigint {
  return rate < 0 ? 0n : BigInt(Math.round(rate));
}

/** Log line about an estimate. Source: `EstimateMedianVal`. */
function describeEstimate(target: number, share: number, estimate: RangeEstimate): string {
  const { ratePerKb, pass, fail, decay } = estimate;
  const passed = `feerate: ${shownRate(ratePerKb)} from ${describeRange(pass)}`;
  return `FeeEst: ${target} >${(100 * share).toFixed(0)}% decay ${decay.toFixed(5)}: ${passed} Fail: ${describeRange(fail)}`;
}

function describeRange(range: BucketRange): string {
  const { startRate, endRate, withinTarget, totalConfirmed, inMempool, leftMempool } = range;
  const seen = totalConfirmed + inMempool + leftMempool;
  const percent = seen === 0 ? 0 : (100 * withinTarget) / seen;
  return `(${shownRate(startRate)} - ${shownRate(endRate)}) ${percent.toFixed(2)}% ${withinTarget.toFixed(1)}/(${totalConfirmed.toFixed(1)} ${inMempool} mem ${leftMempool.toFixed(1)} out)`;
}

/** Formats a rate with six significant digits, for the log. */
function shownRate(rate: number): string {
  return String(Number(rate.toPrecision(6)));
}
