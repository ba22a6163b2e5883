/** Metrics of the claim search: the sync state of its index, and the duration of searches. */
import type { Metrics } from './registry.js';

/** The claim search state that the metrics read. */
export interface MeasuredSearch {
  status(): {
    /** Block up to which the search index is built; null until the first build is complete. */
    readonly tip: { readonly height: number } | null;
    readonly documents: number;
    readonly running: number;
    readonly waiting: number;
  };
  /** Called after each search, both completed and timed-out searches. */
  observer: ((durationSec: number, timedOut: boolean) => void) | null;
}

/** Histogram buckets for the duration of a search, in seconds. A search may take ten seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10];

export function followSearch(metrics: Metrics, search: MeasuredSearch): void {
  metrics.gauge(
    'claimsearch_height',
    'Height of the last block in the search index; -1 until it is built.',
    () => search.status().tip?.height ?? -1,
  );
  metrics.gauge('claimsearch_documents', 'Claims in the search index.', () => search.status().documents);
  metrics.gauge('claimsearch_running', 'Running searches.', () => search.status().running);
  metrics.gauge('claimsearch_waiting', 'Queued searches.', () => search.status().waiting);
  const durations = metrics.histogram(
    'claimsearch_duration_seconds',
    'Duration of searches that were not answered from the cache.',
    BUCKETS,
  );
  const timeouts = metrics.counter(
    'claimsearch_timeouts_total',
    'Searches that were aborted by the time limit.',
  );
  search.observer = (durationSec, timedOut) => {
    durations.observe(durationSec);
    if (timedOut) timeouts.inc();
  };
}
