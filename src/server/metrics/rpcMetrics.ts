/** Metrics of RPC calls. */
import type { AnswerCache } from '../../rpc/call/answerCache.js';
import type { BlockTextCache } from '../../interfaces/blockTexts.js';
import type { RpcDispatcherDeps } from '../../rpc/call/dispatch.js';
import type { ServerLoad } from '../routes.js';
import type { Metrics } from './registry.js';

/** Histogram buckets for the duration of a call: 0.5 ms to 30 s. A long poll may take up to half a minute. */
const CALL_BUCKETS_SEC = [0.0005, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30];

/**
 * Observer of RPC calls that counts them. Only declared methods are counted, because a label must not come from a client's
 * input.
 */
export function rpcCallMetrics(metrics: Metrics): NonNullable<RpcDispatcherDeps['onCall']> {
  const durations = metrics.labelledHistogram(
    'rpc_duration_seconds',
    'Duration of calls until the response began, by method.',
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

/** Adds metrics of the response cache. */
export function addAnswerMetrics(
  metrics: Metrics,
  answers: Pick<AnswerCache, 'hits' | 'sizeBytes'>,
  blockTexts: Pick<BlockTextCache, 'sizeBytes'> | null,
): void {
  metrics.gauge(
    'rpc_cache_bytes',
    'Memory usage of the cache of results.',
    () => answers.sizeBytes + (blockTexts?.sizeBytes ?? 0),
  );
  metrics.total('rpc_cache_hits_total', 'Calls answered from the cache of results.', () => answers.hits);
}

/** Adds metrics of the work queue, through which all calls pass, including REST. */
export function addServerMetrics(metrics: Metrics, load: () => ServerLoad): void {
  metrics.labelledGauge(
    'rpc_queue_calls',
    'Calls in the work queue by state: running, queued, or waiting (paused until data is available).',
    'state',
    () => {
      const { running, queued, waiting } = load();
      return [
        ['running', running],
        ['queued', queued],
        ['waiting', waiting],
      ];
    },
  );
  metrics.total(
    'rpc_refused_total',
    'Calls that were refused because the work queue was full.',
    () => load().refused,
  );
  metrics.gauge('http_connections', 'Open HTTP connections.', () => load().connections);
}
