/** The operator's settings of the mempool, in internal units. */
import type { PackageLimits } from './packageLimits.js';
import type { StandardRules } from './policy.js';

export interface MempoolOptions {
  /** `-maxmempool`, in bytes. */
  readonly maxUsageBytes: number;
  /** `-mempoolexpiry`, in seconds. */
  readonly expirySec: number;
  /** `-minrelaytxfee` and `-incrementalrelayfee`, satoshis per 1,000 virtual bytes. */
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
  /** `-checkmempool`: the consistency is checked after one in this many changes of the tip; 0 never. */
  readonly checkEvery: number;
  /** `mempool.dat`. */
  readonly dumpPath: string;
  /** `-persistmempool`. */
  readonly persist: boolean;
}
