/** Settings of the mempool by the operator, in internal units. */
import type { PackageLimits } from './packageLimits.js';
import type { StandardRules } from './policy.js';

export interface MempoolOptions {
  /** `-maxmempool`: maximum memory use in bytes. */
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
  /** `-checkmempool`: the consistency is checked once in this number of tip changes; 0 for never. */
  readonly checkEvery: number;
  /** `mempool.dat`. */
  readonly dumpPath: string;
  /** `-persistmempool`. */
  readonly persist: boolean;
}
