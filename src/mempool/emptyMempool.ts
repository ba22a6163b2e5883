/** The mempool of a node that keeps no unconfirmed transactions: it answers truthfully, and leaves an empty dump. */
import { rename, writeFile } from 'node:fs/promises';
import { Writer } from '../util/writer.js';
import type { BlockSource, MempoolReader } from './mempoolReader.js';

/** Source: `MEMPOOL_DUMP_VERSION`. */
const DUMP_VERSION = 1n;

export interface EmptyMempoolOptions {
  /** `-maxmempool`, in bytes. */
  maxUsageBytes: number;
  /** `-minrelaytxfee`, satoshis per 1,000 virtual bytes. */
  minRelayFeeRatePerKb: bigint;
  /** Where `save` writes. */
  dumpPath: string;
}

/** Core's dump format without transactions: version, no entries, no fee deltas. Source: `DumpMempool`. */
function emptyDump(): Buffer {
  return new Writer(17).u64(DUMP_VERSION).u64(0n).compactSize(0).finish();
}

export function emptyMempool(options: EmptyMempoolOptions): MempoolReader & BlockSource {
  return {
    size: 0,
    totalSizeBytes: 0,
    totalFeeSat: 0n,
    usageBytes: 0,
    maxUsageBytes: options.maxUsageBytes,
    minRelayFeeRatePerKb: options.minRelayFeeRatePerKb,
    minFeeRatePerKb: options.minRelayFeeRatePerKb,
    changeCount: 0,
    isLoaded: true,
    txids: () => [],
    entry: () => null,
    transaction: () => null,
    ancestors: () => [],
    descendants: () => [],
    output: () => null,
    isSpent: () => false,
    async save() {
      const fresh = `${options.dumpPath}.new`;
      await writeFile(fresh, emptyDump());
      await rename(fresh, options.dumpPath);
    },
    selectForBlock: () => [],
  };
}
