/**
 * Prometheus metrics about calls. Source: lbry-sdk lbry/extras/daemon/daemon.py, namespace `daemon_api`.
 */
import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { CallObserver } from '../api/dispatch.js';
import { shared } from '../../util/shared.js';
import { plainServer } from './plainServer.js';

/** Time in ms for which a generated metrics text is reused. Arbitrary. */
const SHARED_MS = 100;
/** Upper bounds of the histogram buckets in seconds. Source: `HISTOGRAM_BUCKETS`. */
const BUCKETS_SEC = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 15, 20, 30, 60,
];

export class CallMetrics implements CallObserver {
  readonly registry = new Registry();
  readonly #pending = this.#gauge('pending_requests', 'Number of running api requests');
  readonly #received = this.#counter('requests_count', 'Number of requests received');
  readonly #failed = this.#counter('failed_request_count', 'Number of failed requests');
  readonly #cancelled = this.#counter('cancelled_request_count', 'Number of cancelled requests');
  readonly #times = new Histogram({
    name: 'daemon_api_response_time',
    help: 'Response times',
    labelNames: ['method'],
    buckets: BUCKETS_SEC,
    registers: [this.registry],
  });

  begin(method: string): (outcome: 'done' | 'failed' | 'cancelled') => void {
    const labels = { method };
    const sinceMs = performance.now();
    this.#pending.inc(labels);
    this.#received.inc(labels);
    return (outcome) => {
      this.#pending.dec(labels);
      if (outcome === 'failed') this.#failed.inc(labels);
      if (outcome === 'cancelled') this.#cancelled.inc(labels);
      this.#times.observe(labels, (performance.now() - sinceMs) / 1000);
    };
  }

  /** Creates a counter whose name has the suffix that lbrynet's Prometheus library adds to all counter names. */
  #counter(name: string, help: string): Counter {
    return new Counter({
      name: `daemon_api_${name}_total`,
      help,
      labelNames: ['method'],
      registers: [this.registry],
    });
  }

  #gauge(name: string, help: string): Gauge {
    return new Gauge({
      name: `daemon_api_${name}`,
      help,
      labelNames: ['method'],
      registers: [this.registry],
    });
  }
}

export function metricsServer(metrics: CallMetrics): FastifyInstance {
  const app = plainServer({ '/metrics': 'GET' });
  const text = shared(() => metrics.registry.metrics(), SHARED_MS);
  app.get('/metrics', async (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(await text()),
  );
  return app;
}
