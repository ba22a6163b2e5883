/**
 * Statistics of the time to confirmation by fee rate, over one horizon: moving averages of confirmed transactions and of
 * those that left unconfirmed, and counts of those still waiting. From these the lowest sufficient fee rate is computed.
 * Contains the statistics; `feeEstimator.ts` decides which transactions count. Source: Core policy/fees.cpp
 * `TxConfirmStats`.
 *
 * The arithmetic is the reference's to the last bit: every sum runs in its order.
 */

/** The moving averages of one horizon, as stored on disk. */
export interface ConfirmAverages {
  /** Factor by which the averages decay per block; between 0 and 1. */
  readonly decay: number;
  /** Number of blocks in a period. */
  readonly scale: number;
  readonly periods: number;
  /** Sum of the fee rates of confirmed transactions, by bucket. */
  readonly rateSums: Float64Array;
  /** Weight of confirmed transactions, by bucket. */
  readonly counts: Float64Array;
  /** For each period and bucket (row by row), the weight confirmed within this many periods. */
  readonly confirmed: Float64Array;
  /** Weight of transactions that left unconfirmed, by period and bucket. */
  readonly failed: Float64Array;
}

/** A range of buckets judged together. Fee rates in satoshis per 1,000 virtual bytes. */
export interface BucketRange {
  /** −1 in both fields for an empty range. */
  readonly startRate: number;
  readonly endRate: number;
  readonly withinTarget: number;
  readonly totalConfirmed: number;
  readonly inMempool: number;
  readonly leftMempool: number;
}

export interface RangeEstimate {
  /** −1 when there is no result. */
  readonly ratePerKb: number;
  /** The cheapest range that is sufficient, and the most expensive one that is not. */
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

/** The averages of a node without any data. */
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
  /** Upper bounds of the buckets, ascending. */
  private readonly buckets: Float64Array;
  /** Number of blocks for which waiting transactions are counted separately. */
  readonly maxConfirms: number;
  /** Transactions still waiting, by block of arrival for the last `maxConfirms` blocks (a ring), and by bucket. */
  private readonly waiting: Int32Array;
  /** Older waiting transactions, by bucket. */
  private readonly waitingLonger: Int32Array;
  /** Whether every average is 0, so that no decay is needed, as during the whole first sync. */
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

  /** Called for a block of this height: all averages decay. Source: `ClearCurrent`, `UpdateMovingAverages`. */
  age(height: number): void {
    const row = this.rowOf(height);
    for (let bucket = 0; bucket < this.buckets.length; bucket++) {
      this.waitingLonger[bucket]! += this.waiting[row + bucket]!;
      this.waiting[row + bucket] = 0;
    }
    if (this.isBlank) return;
    const { decay, confirmed, failed, rateSums, counts } = this.averages;
    for (const values of [confirmed, failed, rateSums, counts]) {
      for (let i = 0; i < values.length; i++) values[i]! *= decay;
    }
  }

  /** Called when a transaction enters the mempool. Source: `NewTx`. */
  enter(height: number, bucket: number): void {
    this.waiting[this.rowOf(height) + bucket]!++;
  }

  /** Removes a transaction that arrived at `height`. Source: `removeTx`. */
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

  /** Records a transaction confirmed in the `blocks`-th block after its arrival; the next block is 1. */
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

  /** Transactions waiting for `target` blocks or longer, by bucket. */
  private outstanding(target: number, bestHeight: number): Int32Array {
    const sums = this.waitingLonger.slice();
    for (let age = target; age < this.maxConfirms; age++) {
      // QUIRK: while there are fewer blocks than this, the difference wraps at 2^32, like unsigned integers.
      const row = this.rowOf((bestHeight - age) >>> 0);
      for (let bucket = 0; bucket < sums.length; bucket++) sums[bucket]! += this.waiting[row + bucket]!;
    }
    return sums;
  }

  /**
   * The lowest fee rate such that, in its range and above, at least `successShare` of the transactions seen confirmed within
   * `target` blocks (1 to `maxConfirms`). Buckets are combined until they received `sufficientTxs` per block on average. The
   * result is the mean rate of the bucket that contains the median transaction of the cheapest sufficient range. Source:
   * `EstimateMedianVal`, with `requireGreater`.
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
    // QUIRK: a range without transactions keeps its sums, but not its bounds.
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

  /** Mean fee rate of the bucket that contains the median of a range; −1 when the range is empty. */
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
