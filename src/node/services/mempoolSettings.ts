/** Creates the mempool's settings from the options. Source: Core init.cpp (steps 3 and 7). */
import { join } from 'node:path';
import type { MempoolOptions } from '../../mempool/mempoolOptions.js';
import { interpretBool } from '../options/optionArgs.js';
import type { LoadedOptions } from '../options/options.js';

/** Maximum of `-checkmempool`. On average the mempool is checked once per this number of changes. */
const MAX_CHECK_EVERY = 1_000_000;

/** Whether `-mempoolreplacement` allows replacement: the value is a switch that is on, or a list of modes that contains `fee`. */
function allowsReplacement(mode: string): boolean {
  return interpretBool(mode) || mode.split(',').includes('fee');
}

export function mempoolSettings({ options, params, paths }: LoadedOptions): MempoolOptions {
  const checkEvery = options.checkmempool ?? (params.defaultConsistencyChecks ? 1 : 0);
  return {
    maxUsageBytes: options.maxmempool * 1_000_000,
    expirySec: options.mempoolexpiry * 60 * 60,
    minRelayFeeRatePerKb: options.minrelaytxfee,
    incrementalFeeRatePerKb: options.incrementalrelayfee,
    allowsReplacement: allowsReplacement(options.mempoolreplacement),
    requireStandard: !(options.acceptnonstdtxn ?? !params.requireStandard),
    standard: {
      maxDataCarrierBytes: options.datacarrier ? options.datacarriersize : null,
      permitBareMultisig: options.permitbaremultisig,
      dustFeeRatePerKb: options.dustrelayfee,
    },
    bytesPerSigop: options.bytespersigop,
    limits: {
      ancestorCount: options.limitancestorcount,
      ancestorSizeBytes: options.limitancestorsize * 1000,
      descendantCount: options.limitdescendantcount,
      descendantSizeBytes: options.limitdescendantsize * 1000,
    },
    checkEvery: Math.min(MAX_CHECK_EVERY, Math.max(0, checkEvery)),
    dumpPath: join(paths.networkDir, 'mempool.dat'),
    persist: options.persistmempool,
  };
}
