/** Metrics of the mempool. */
import type { Mempool } from '../../mempool/mempool.js';
import type { Metrics } from './registry.js';

/** Adds gauges for the current state of the mempool, and counters of transactions that enter and leave the mempool. */
export function followMempool(metrics: Metrics, mempool: Mempool): void {
  const gauge = (name: string, help: string, read: () => number): void =>
    metrics.gauge(`mempool_${name}`, help, read);
  gauge('transactions', 'Number of transactions in the mempool.', () => mempool.size);
  gauge('virtual_bytes', 'Sum of their virtual sizes.', () => mempool.totalSizeBytes);
  gauge('usage_bytes', 'Memory usage of the mempool.', () => mempool.usageBytes);
  gauge('max_usage_bytes', 'Maximum memory usage of the mempool (-maxmempool).', () => mempool.maxUsageBytes);
  gauge(
    'min_fee_satoshis',
    'Minimum fee rate per 1,000 virtual bytes at which a transaction is accepted now.',
    () => Number(mempool.minFeeRatePerKb),
  );
  gauge(
    'unbroadcast_transactions',
    'Transactions submitted to this node that no peer has requested yet.',
    () => mempool.unbroadcastCount,
  );
  const accepted = metrics.counter('mempool_accepted_total', 'Accepted transactions.');
  const removed = metrics.labelledCounter(
    'mempool_removed_total',
    'Removed transactions, by reason: block, conflict, expiry, reorg, replaced, sizelimit.',
    'reason',
  );
  mempool.listen({
    added: () => accepted.inc(),
    removed: (_entry, reason) => removed.inc({ reason }),
  });
}
