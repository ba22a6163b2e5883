/**
 * Statistics of the time to confirmation by fee rate, over one horizon: moving averages of confirmed transactions and of
 * transactions that left the mempool unconfirmed, and counts of transactions in the mempool. The lowest sufficient fee rate
 * is computed from them. This module has only the statistics; `feeEstimator.ts` decides which transactions count. Source:
 * Core policy/fees.cpp `TxConfirmStats`.
 *
 * The results equal the reference's to the last bit, because every sum is computed in the same order.
 */

/** Moving averages of one horizon, as stored in the file. */
export interface ConfirmAverages {
  /** Factor between 0 and 1 by which the averages decay with each block. */
  readonly decay: number;
  /** Number of blocks in a period. */
  readonly scale: number;
  readonly periods: number;
  /** Decayed sum of the fee rates of confirmed transactions, by bucket. */
  readonly rateSums: Float64Array;
  /** Decayed number of confirmed transactions, by bucket. */
  readonly counts: Float64Array;
  /**
   * Decayed number of transactions that were confirmed within a number of periods. The array has a row for each period and a
   * column for each bucket.
   */
  readonly confirmed: Float64Array;
  /** Decayed number of transactions that left the mempool unconfirmed, by period and bucket. */
  readonly failed: Float64Array;
}

/** A range of fee rate buckets that is evaluated together. Fee rates are in satoshis per 1,000 virtual bytes. */
export interface BucketRange {
  /** Bounds of a range of fee rates; both are −1 for an empty range. */
  readonly startRate: number;
  readonly endRate: number;
  readonly withinTarget: number;
  readonly totalConfirmed: number;
  readonly inMempool: number;
  readonly leftMempool: number;
}

export interface RangeEstimate {
  /** Estimated fee rate; −1 if no result exists. */
  readonly ratePerKb: number;
  /** `pass`: the cheapest range of fee rates that is sufficient. `fail`: the most expensive range that is not sufficient. */
  readonly pass: BucketRange;
  readonly fail: BucketRange;
  readonly decay: number;
  readonly scale: number;
}

export const NO_RANGE: BucketRange = {
  startRate: -1,
  endRate: -1,
  withinTarget: 0,
  totalConfirmed: 0,
  inMempool: 0,
  leftMempool: 0,
};

/** Returns the averages for the case that no transaction was observed yet. */
export function emptyAverages(
  buckets: number,
  shape: { readonly decay: number; readonly scale: number; readonly periods: number },
): ConfirmAverages {
  return {
    ...shape,
    rateSums: new Float64Array(buckets),
    counts: new Float64Array(buckets),
    confirmed: new Float64Array(buckets * shape.periods),
    failed: new Float64Array(buckets * shape.periods),
  };
}

export class ConfirmStats {
  readonly averages: ConfirmAverages;
  /** Upper bounds of the buckets' fee rates, ascending. */
  private readonly buckets: Float64Array;
  /** Number of the latest blocks for which unconfirmed transactions are counted by block of arrival. */
  readonly maxConfirms: number;
  /**
   * Number of unconfirmed transactions that arrived in the last `maxConfirms` blocks, by block of arrival (a ring buffer)
   * and bucket.
   */
  private readonly waiting: Int32Array;
  /** Whether a transaction ever entered the mempool. If not, `waiting` has only zeros. */
  private hasEntered = false;
  /** Number of unconfirmed transactions that arrived before the last `maxConfirms` blocks, by bucket. */
  private readonly waitingLonger: Int32Array;
  /** Whether all averages are 0, so that no decay must be computed. This holds during the whole initial block download. */
  private isBlank: boolean;

  constructor(buckets: Float64Array, averages: ConfirmAverages) {
    this.buckets = buckets;
    this.averages = averages;
    this.maxConfirms = averages.scale * averages.periods;
    this.waiting = new Int32Array(this.maxConfirms * buckets.length);
    this.waitingLonger = new Int32Array(buckets.length);
    this.isBlank = [averages.counts, averages.confirmed, averages.failed, averages.rateSums].every((values) =>
      values.every((value) => value === 0),
    );
  }

  private rowOf(height: number): number {
    return (height % this.maxConfirms) * this.buckets.length;
  }

  /** Decays all averages when a block at this height is connected. Source: `ClearCurrent`, `UpdateMovingAverages`. */
  age(height: number): void {
    if (this.hasEntered) this.moveWaiting(this.rowOf(height));
    if (this.isBlank) return;
    const { decay, confirmed, failed, rateSums, counts } = this.averages;
    for (const values of [confirmed, failed, rateSums, counts]) {
      for (let i = 0; i < values.length; i++) values[i]! *= decay;
    }
  }

  private moveWaiting(row: number): void {
    for (let bucket = 0; bucket < this.buckets.length; bucket++) {
      this.waitingLonger[bucket]! += this.waiting[row + bucket]!;
      this.waiting[row + bucket] = 0;
    }
  }

  /** Called when a transaction enters the mempool. Source: `NewTx`. */
  enter(height: number, bucket: number): void {
    this.hasEntered = true;
    this.waiting[this.rowOf(height) + bucket]!++;
  }

  /** Removes a transaction that arrived at `height` from the counts of unconfirmed transactions. Source: `removeTx`. */
  leave(height: number, bestHeight: number, bucket: number, isConfirmed: boolean): void {
    const age = bestHeight === 0 ? 0 : bestHeight - height;
    if (age < 0) return;
    if (age >= this.maxConfirms) {
      if (this.waitingLonger[bucket]! > 0) this.waitingLonger[bucket]!--;
    } else {
      const at = this.rowOf(height) + bucket;
      if (this.waiting[at]! > 0) this.waiting[at]!--;
    }
    const { scale, failed, periods } = this.averages;
    if (isConfirmed || age < scale) return;
    const failedPeriods = Math.min(Math.floor(age / scale), periods);
    for (let period = 0; period < failedPeriods; period++) failed[period * this.buckets.length + bucket]!++;
    this.isBlank = false;
  }

  /**
   * Records a confirmed transaction. `blocks` is the number of blocks from its arrival to its confirmation; 1 is the next
   * block.
   */
  record(blocks: number, bucket: number, ratePerKb: number): void {
    const { scale, periods, confirmed, counts, rateSums } = this.averages;
    const width = this.buckets.length;
    for (let period = Math.ceil(blocks / scale); period <= periods; period++) {
      confirmed[(period - 1) * width + bucket]!++;
    }
    counts[bucket]!++;
    rateSums[bucket]! += ratePerKb;
    this.isBlank = false;
  }

  /** Number of transactions that have been unconfirmed for at least `target` blocks, by bucket. */
  private outstanding(target: number, bestHeight: number): Int32Array {
    const sums = this.waitingLonger.slice();
    for (let age = target; age < this.maxConfirms; age++) {
      // QUIRK: at heights below `age` the difference wraps at 2^32, as with the unsigned integers of the reference.
      const row = this.rowOf((bestHeight - age) >>> 0);
      for (let bucket = 0; bucket < sums.length; bucket++) sums[bucket]! += this.waiting[row + bucket]!;
    }
    return sums;
  }

  /**
   * Estimates the lowest fee rate with which, and with all higher rates, at least `successShare` of the observed
   * transactions were confirmed within `target` blocks (1 to `maxConfirms`). Adjacent buckets are combined until they have
   * at least `sufficientTxs` transactions per block on average. The result is the mean rate of the bucket that contains the
   * median transaction of the cheapest sufficient range. Source: `EstimateMedianVal`, with `requireGreater`.
   */
  estimate(target: number, sufficientTxs: number, successShare: number, bestHeight: number): RangeEstimate {
    const { decay, scale, counts, confirmed, failed } = this.averages;
    const width = this.buckets.length;
    const row = (Math.ceil(target / scale) - 1) * width;
    const outstanding = this.outstanding(target, bestHeight);
    const enough = sufficientTxs / (1 - decay);
    let sums = newSums();
    let top = width - 1;
    let fresh = true;
    let isPassing = true;
    let best: { low: number; high: number; sums: Sums } | null = null;
    let fail = NO_RANGE;
    for (let bucket = width - 1; bucket >= 0; bucket--) {
      if (fresh) top = bucket;
      fresh = false;
      sums.within += confirmed[row + bucket]!;
      sums.total += counts[bucket]!;
      sums.left += failed[row + bucket]!;
      sums.waiting += outstanding[bucket]!;
      if (sums.total < enough) continue;
      if (sums.within / (sums.total + sums.left + sums.waiting) < successShare) {
        if (isPassing) fail = this.range(bucket, top, sums);
        isPassing = false;
        continue;
      }
      fail = NO_RANGE;
      isPassing = true;
      best = { low: bucket, high: top, sums };
      sums = newSums();
      fresh = true;
    }
    if (isPassing && !fresh) fail = this.range(0, top, sums);
    const ratePerKb = best === null ? -1 : this.medianRate(best.low, best.high);
    // QUIRK: if a passing range has no transactions, its sums are reported, but its bounds are not.
    let pass = NO_RANGE;
    if (best !== null) {
      pass = this.range(best.low, best.high, best.sums);
      if (ratePerKb === -1) pass = { ...pass, startRate: -1, endRate: -1 };
    }
    return { ratePerKb, pass, fail, decay, scale };
  }

  private range(low: number, high: number, { within, total, waiting, left }: Sums): BucketRange {
    return {
      startRate: low > 0 ? this.buckets[low - 1]! : 0,
      endRate: this.buckets[high]!,
      withinTarget: within,
      totalConfirmed: total,
      inMempool: waiting,
      leftMempool: left,
    };
  }

  /**
   * Mean fee rate of the bucket with the median transaction of a range of buckets; −1 if the range has no transactions.
   */
  private medianRate(low: number, high: number): number {
    const { counts, rateSums } = this.averages;
    let half = 0;
    for (let bucket = low; bucket <= high; bucket++) half += counts[bucket]!;
    if (half === 0) return -1;
    half /= 2;
    for (let bucket = low; bucket <= high; bucket++) {
      if (counts[bucket]! >= half) return rateSums[bucket]! / counts[bucket]!;
      half -= counts[bucket]!;
    }
    return -1;
  }
}

interface Sums {
  within: number;
  total: number;
  left: number;
  waiting: number;
}

function newSums(): Sums {
  return { within: 0, total: 0, left: 0, waiting: 0 };
}
