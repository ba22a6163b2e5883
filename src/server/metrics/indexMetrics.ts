/** Metrics of the indexes: the sync state of each index, by name. */
import type { BackgroundFill } from '../../index/backgroundFill.js';
import type { Metrics } from './registry.js';

export function followIndexes(metrics: Metrics, fill: Pick<BackgroundFill, 'statuses'>): void {
  metrics.labelledGauge('index_height', 'Height of the last block in an index.', 'index', () =>
    fill.statuses().map(({ name, height }) => [name, height]),
  );
  metrics.labelledGauge('index_synced', 'Whether an index is at the tip: 1 or 0.', 'index', () =>
    fill.statuses().map(({ name, synced }) => [name, synced ? 1 : 0]),
  );
}
