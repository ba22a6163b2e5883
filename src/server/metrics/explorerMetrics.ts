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
  metrics.gauge('explorer_running', "Whether the explorer's thread is running: 1 or 0.", () =>
    explorer.failure === null ? 1 : 0,
  );
  metrics.gauge(
    'explorer_viewers',
    'Number of open explorer pages with a live connection.',
    () => explorer.counters.viewers,
  );
  metrics.total('explorer_pages_total', 'Requested pages of the explorer.', () => explorer.counters.pages);
  metrics.total(
    'explorer_rendered_total',
    'Rendered pages of the explorer; the others came from its cache.',
    () => explorer.counters.rendered,
  );
  metrics.total(
    'explorer_refused_total',
    'Requests to the explorer that were refused by the rate limit.',
    () => explorer.counters.refused,
  );
  metrics.total(
    'explorer_failed_total',
    'Pages of the explorer that failed; the log contains the errors.',
    () => explorer.counters.failed,
  );
}
