/** Metrics of the hub (the wallet server): its clients and their requests. */
import type { Metrics } from './registry.js';

/** The hub state that the metrics read. Method names are those of the hub's method table. */
export interface MeasuredHub {
  readonly status: {
    readonly listening: boolean;
    readonly restarts: number;
    readonly height: number;
    readonly sessions: number;
    readonly stalled: number;
    readonly unsentBytes: number;
    readonly subscriptions: number;
    readonly waiting: number;
  };
  /** Receives the events that the metrics count. */
  observer: {
    answered(method: string, error: { readonly code: number } | null, durationSec: number): void;
    notified(method: string, count: number): void;
  } | null;
}

/**
 * Histogram buckets for the duration of a request, in seconds. Most requests take a millisecond; a search may take ten
 * seconds.
 */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10];

export function followHub(metrics: Metrics, hub: MeasuredHub): void {
  metrics.gauge('hub_listening', 'Whether the hub accepts clients: 1 or 0.', () =>
    hub.status.listening ? 1 : 0,
  );
  metrics.total(
    'hub_restarts_total',
    'Automatic restarts of the hub after errors.',
    () => hub.status.restarts,
  );
  metrics.gauge('hub_height', 'Height of the block up to which the hub has data.', () => hub.status.height);
  metrics.gauge('hub_sessions', 'Connected clients of the hub.', () => hub.status.sessions);
  metrics.gauge(
    'hub_stalled_sessions',
    'Clients of the hub that do not read their data.',
    () => hub.status.stalled,
  );
  metrics.gauge('hub_unsent_bytes', 'Bytes queued for clients of the hub.', () => hub.status.unsentBytes);
  metrics.gauge(
    'hub_subscriptions',
    'Addresses and script hashes to which clients of the hub are subscribed.',
    () => hub.status.subscriptions,
  );
  metrics.gauge('hub_waiting_requests', 'Queued requests of the hub.', () => hub.status.waiting);
  const durations = metrics.labelledHistogram(
    'hub_request_duration_seconds',
    'Processing time of requests to the hub, without the time in the queue, by method.',
    'method',
    BUCKETS,
  );
  const errors = metrics.labelledCounter(
    'hub_errors_total',
    'Requests to the hub that were answered with an error, by error code.',
    'code',
  );
  const notified = metrics.labelledCounter(
    'hub_notifications_total',
    'Notifications sent by the hub, by method.',
    'method',
  );
  hub.observer = {
    answered(method, error, durationSec) {
      durations.observe({ method }, durationSec);
      if (error) errors.inc({ code: String(error.code) });
    },
    notified: (method, count) => notified.inc({ method }, count),
  };
}
