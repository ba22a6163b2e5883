/** Metrics of RPC calls. */
import type { RpcDispatcherDeps } from '../../rpc/dispatch.js';
import type { Metrics } from './registry.js';

/** From half a millisecond to half a minute: a long poll ends later. */
const CALL_BUCKETS_SEC = [0.0005, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30];

/** Hears of calls, of declared methods alone: what callers make up is no label. */
export function rpcCallMetrics(metrics: Metrics): NonNullable<RpcDispatcherDeps['onCall']> {
  const durations = metrics.labelledHistogram(
    'rpc_duration_seconds',
    'How long calls ran until their answer began, by method.',
    'method',
    CALL_BUCKETS_SEC,
  );
  const errors = metrics.labelledCounter(
    'rpc_errors_total',
    'Calls that were answered with an error.',
    'method',
  );
  return (method, ms, failed) => {
    durations.observe({ method }, ms / 1000);
    if (failed) errors.inc({ method });
  };
}
