/** Metrics of the web explorer. */
import type { Metrics } from './registry.js';

/** The explorer state that the metrics read. */
export interface MeasuredExplorer {
  readonly failure: string | null;
  readonly counters: {
    readonly pages: number;
    readonly rendered: number;
    readonly refused: number;
    readonly failed: number;
    readonly viewers: number;
  };
}

export function followExplorer(metrics: Metrics, explorer: MeasuredExplorer): void {
  metrics.gauge('explorer_running', 'Whether the thread of the explorer runs: 1 or 0.', () =>
    explorer.failure === null ? 1 : 0,
  );
  metrics.gauge(
    'explorer_viewers',
    'Pages of the explorer that are open with a live connection.',
    () => explorer.counters.viewers,
  );
  metrics.total(
    'explorer_pages_total',
    'Pages of the explorer that were asked for.',
    () => explorer.counters.pages,
  );
  metrics.total(
    'explorer_rendered_total',
    'Pages of the explorer that were rendered; the others came from its cache.',
    () => explorer.counters.rendered,
  );
  metrics.total(
    'explorer_refused_total',
    'Requests to the explorer that were refused because a visitor asked too often.',
    () => explorer.counters.refused,
  );
  metrics.total(
    'explorer_failed_total',
    'Pages of the explorer that failed; the log has the reason.',
    () => explorer.counters.failed,
  );
}
