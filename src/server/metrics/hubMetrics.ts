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
    told(method: string, count: number): void;
  } | null;
}

/**
 * Histogram buckets for the duration of a request, in seconds. Most requests take a millisecond; a search may take ten
 * seconds.
 */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10];

export function followHub(metrics: Metrics, hub: MeasuredHub): void {
  metrics.gauge('hub_listening', 'Whether clients can connect to the hub: 1 or 0.', () =>
    hub.status.listening ? 1 : 0,
  );
  metrics.total(
    'hub_restarts_total',
    'How often the hub was started again by itself.',
    () => hub.status.restarts,
  );
  metrics.gauge('hub_height', 'The block that clients of the hub are served up to.', () => hub.status.height);
  metrics.gauge('hub_sessions', 'Clients of the hub.', () => hub.status.sessions);
  metrics.gauge(
    'hub_stalled_sessions',
    'Clients of the hub that do not take what was sent to them.',
    () => hub.status.stalled,
  );
  metrics.gauge(
    'hub_unsent_bytes',
    'Bytes that wait for clients of the hub to take them.',
    () => hub.status.unsentBytes,
  );
  metrics.gauge(
    'hub_subscriptions',
    'Scripts that clients of the hub subscribed to.',
    () => hub.status.subscriptions,
  );
  metrics.gauge(
    'hub_waiting_requests',
    'Requests to the hub that wait for their turn.',
    () => hub.status.waiting,
  );
  const durations = metrics.labelledHistogram(
    'hub_request_duration_seconds',
    'Time that requests to the hub took, from their turn to the answer, by method.',
    'method',
    BUCKETS,
  );
  const errors = metrics.labelledCounter(
    'hub_errors_total',
    'Requests to the hub answered with an error, by its code.',
    'code',
  );
  const told = metrics.labelledCounter(
    'hub_notifications_total',
    'What the hub told clients by itself, by method.',
    'method',
  );
  hub.observer = {
    answered(method, error, durationSec) {
      durations.observe({ method }, durationSec);
      if (error) errors.inc({ code: String(error.code) });
    },
    told: (method, count) => told.inc({ method }, count),
  };
}
