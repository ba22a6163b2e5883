/** A mempool without transactions. */
import type { MempoolReader } from '../../src/mempool/mempoolReader.js';

export function emptyMempool(): MempoolReader {
  return {
    size: 0,
    totalSizeBytes: 0,
    totalFeeSat: 0n,
    usageBytes: 0,
    maxUsageBytes: 300_000_000,
    minRelayFeeRatePerKb: 1000n,
    minFeeRatePerKb: 1000n,
    changeCount: 0,
    unbroadcastCount: 0,
    isLoaded: true,
    *txidsInSlices() {
      yield;
      return [];
    },
    entry: () => null,
    transaction: () => null,
    ancestors: () => [],
    descendants: () => [],
    output: () => null,
    isSpent: () => false,
    spender: () => null,
    save: () => Promise.resolve(),
  };
}
