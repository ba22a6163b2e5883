/** Metrics of the search over claims: how far its index is, and what searches take. */
import type { Metrics } from './registry.js';

/** The search as it is measured. */
export interface MeasuredSearch {
  status(): {
    /** Null until the first build is whole. */
    readonly tip: { readonly height: number } | null;
    readonly documents: number;
    readonly running: number;
    readonly waiting: number;
  };
  /** Notified of each search, once it is answered or given up. */
  observer: ((durationSec: number, timedOut: boolean) => void) | null;
}

/** Seconds; a search may take ten. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10];

export function followSearch(metrics: Metrics, search: MeasuredSearch): void {
  metrics.gauge(
    'claimsearch_height',
    'Height of the last block in the search index; -1 until it is built.',
    () => search.status().tip?.height ?? -1,
  );
  metrics.gauge('claimsearch_documents', 'Claims in the search index.', () => search.status().documents);
  metrics.gauge('claimsearch_running', 'Searches that run.', () => search.status().running);
  metrics.gauge('claimsearch_waiting', 'Searches that wait for their turn.', () => search.status().waiting);
  const durations = metrics.histogram(
    'claimsearch_duration_seconds',
    'Time that searches took which were not answered from memory.',
    BUCKETS,
  );
  const timeouts = metrics.counter(
    'claimsearch_timeouts_total',
    'Searches given up because they took too long.',
  );
  search.observer = (durationSec, timedOut) => {
    durations.observe(durationSec);
    if (timedOut) timeouts.inc();
  };
}
