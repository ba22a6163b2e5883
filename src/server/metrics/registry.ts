/**
 * The node's metrics registry, and the few kinds of metrics that it supports. All names begin with `lbcnode_`. A value that
 * the node already has is read only when the metrics are requested, so that it costs nothing otherwise.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

export const METRICS_PREFIX = 'lbcnode_';

/** Values of a metric by the value of its only label. */
export type ByLabel = Iterable<readonly [label: string, value: number]>;

export class Metrics {
  readonly registry = new Registry();

  /** Adds a gauge that reads the current value; left out while `read` returns null. */
  gauge(name: string, help: string, read: () => number | null | Promise<number | null>): void {
    new Gauge({
      ...this.named(name, help),
      async collect() {
        const value = await read();
        if (value === null) this.remove();
        else this.set(value);
      },
    });
  }

  /** Adds a gauge that reads several current values, distinguished by a label. */
  labelledGauge(name: string, help: string, label: string, read: () => ByLabel): void {
    new Gauge({
      ...this.named(name, help),
      labelNames: [label],
      collect() {
        this.reset();
        for (const [value, count] of read()) this.set({ [label]: value }, count);
      },
    });
  }

  /** Adds a counter whose sum the node already has. */
  total(name: string, help: string, read: () => number): void {
    new Counter({
      ...this.named(name, help),
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  /** Adds counters whose sums the node already has, distinguished by a label. */
  labelledTotal(name: string, help: string, label: string, read: () => ByLabel): void {
    new Counter({
      ...this.named(name, help),
      labelNames: [label],
      collect() {
        this.reset();
        for (const [value, sum] of read()) this.inc({ [label]: value }, sum);
      },
    });
  }

  /** Adds a counter of events. */
  counter(name: string, help: string): Counter {
    return new Counter(this.named(name, help));
  }

  labelledCounter<L extends string>(name: string, help: string, label: L): Counter<L> {
    return new Counter({ ...this.named(name, help), labelNames: [label] });
  }

  /** Durations in seconds. */
  histogram(name: string, help: string, buckets: readonly number[]): Histogram {
    return new Histogram({ ...this.named(name, help), buckets: [...buckets] });
  }

  labelledHistogram<L extends string>(
    name: string,
    help: string,
    label: L,
    buckets: readonly number[],
  ): Histogram<L> {
    return new Histogram({ ...this.named(name, help), labelNames: [label], buckets: [...buckets] });
  }

  private named(name: string, help: string): { name: string; help: string; registers: Registry[] } {
    return { name: METRICS_PREFIX + name, help, registers: [this.registry] };
  }
}
