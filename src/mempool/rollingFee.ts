/**
 * The minimum fee rate after the mempool was full: each eviction raises it, and after a block was connected it halves over
 * time. Source: Core txmempool.cpp `GetMinFee`, `trackPackageRemoved`.
 */

/** Half-life of the rate, in seconds, while the mempool is at least half full. Source: `ROLLING_FEE_HALFLIFE`. */
const HALF_LIFE_SEC = 60 * 60 * 12;
/** Minimum number of seconds between two updates of the rate. */
const UPDATE_INTERVAL_SEC = 10;

export class RollingFee {
  private readonly incrementalRatePerKb: bigint;
  private rate = 0;
  private updatedSec: number;
  private blockSinceRaise = false;

  constructor(incrementalRatePerKb: bigint, nowSec: number) {
    this.incrementalRatePerKb = incrementalRatePerKb;
    this.updatedSec = nowSec;
  }

  /**
   * Raises the minimum fee rate after the eviction of a package. `ratePerKb` is the fee rate of the package plus the
   * incremental rate.
   */
  raise(ratePerKb: bigint): void {
    if (Number(ratePerKb) <= this.rate) return;
    this.rate = Number(ratePerKb);
    this.blockSinceRaise = false;
  }

  /** Called when a block was connected. The rate decays only after a block. */
  noteBlock(nowSec: number): void {
    this.updatedSec = nowSec;
    this.blockSinceRaise = true;
  }

  /** Current minimum fee rate in satoshis per 1,000 virtual bytes; 0 if the mempool was not full recently. */
  current(nowSec: number, usageBytes: number, maxUsageBytes: number): bigint {
    if (!this.blockSinceRaise || this.rate === 0) return BigInt(Math.round(this.rate));
    if (nowSec > this.updatedSec + UPDATE_INTERVAL_SEC) {
      let halfLifeSec = HALF_LIFE_SEC;
      if (usageBytes < maxUsageBytes / 4) halfLifeSec /= 4;
      else if (usageBytes < maxUsageBytes / 2) halfLifeSec /= 2;
      this.rate /= 2 ** ((nowSec - this.updatedSec) / halfLifeSec);
      this.updatedSec = nowSec;
      if (this.rate < Number(this.incrementalRatePerKb) / 2) {
        this.rate = 0;
        return 0n;
      }
    }
    const rounded = BigInt(Math.round(this.rate));
    return rounded > this.incrementalRatePerKb ? rounded : this.incrementalRatePerKb;
  }
}
