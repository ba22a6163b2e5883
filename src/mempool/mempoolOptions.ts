/** Settings of the mempool from the operator's options, in the units that the mempool uses. */
import type { PackageLimits } from './packageLimits.js';
import type { StandardRules } from './policy.js';

export interface MempoolOptions {
  /** Maximum memory use of the mempool in bytes (`-maxmempool`). */
  readonly maxUsageBytes: number;
  /** `-mempoolexpiry`: maximum age of a transaction in seconds. */
  readonly expirySec: number;
  /** `-minrelaytxfee` and `-incrementalrelayfee`, in satoshis per 1,000 virtual bytes. */
  readonly minRelayFeeRatePerKb: bigint;
  readonly incrementalFeeRatePerKb: bigint;
  /** `-mempoolreplacement`. */
  readonly allowsReplacement: boolean;
  /** `-acceptnonstdtxn`, reversed. */
  readonly requireStandard: boolean;
  readonly standard: StandardRules;
  /** `-bytespersigop`. */
  readonly bytesPerSigop: number;
  readonly limits: PackageLimits;
  /** Interval, in tip changes, at which the consistency of the mempool is checked (`-checkmempool`); 0 for never. */
  readonly checkEvery: number;
  /** `mempool.dat`. */
  readonly dumpPath: string;
  /** `-persistmempool`. */
  readonly persist: boolean;
}
