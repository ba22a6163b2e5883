/** Metrics of the mempool. */
import type { Mempool } from '../../mempool/mempool.js';
import type { Metrics } from './registry.js';

/** Adds gauges for the current state of the mempool, and counters of transactions that enter and leave the mempool. */
export function followMempool(metrics: Metrics, mempool: Mempool): void {
  const gauge = (name: string, help: string, read: () => number): void =>
    metrics.gauge(`mempool_${name}`, help, read);
  gauge('transactions', 'Transactions in the mempool.', () => mempool.size);
  gauge('virtual_bytes', 'Sum of their virtual sizes.', () => mempool.totalSizeBytes);
  gauge('usage_bytes', 'Memory of the mempool.', () => mempool.usageBytes);
  gauge('max_usage_bytes', 'Bound of that memory (-maxmempool).', () => mempool.maxUsageBytes);
  gauge('min_fee_satoshis', 'Fee per 1,000 virtual bytes by which a transaction gets in now.', () =>
    Number(mempool.minFeeRatePerKb),
  );
  gauge(
    'unbroadcast_transactions',
    'Transactions sent here that no peer has asked for.',
    () => mempool.unbroadcastCount,
  );
  const accepted = metrics.counter('mempool_accepted_total', 'Transactions let in.');
  const removed = metrics.labelledCounter(
    'mempool_removed_total',
    'Transactions that left, by reason: block, conflict, expiry, reorg, replaced, sizelimit.',
    'reason',
  );
  mempool.listen({
    added: () => accepted.inc(),
    removed: (_entry, reason) => removed.inc({ reason }),
  });
}
