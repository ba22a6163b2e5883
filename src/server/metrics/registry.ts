/**
 * The node's metrics registry, and the few metric types that it supports. All names begin with `lbcnode_`. A value that the
 * node already keeps is read only when the metrics are requested, so that the value has no cost otherwise.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

export const METRICS_PREFIX = 'lbcnode_';

/** Values of a metric that has one label, by the value of the label. */
export type ByLabel = Iterable<readonly [label: string, value: number]>;

export class Metrics {
  readonly registry = new Registry();

  /** Adds a gauge that reads the current value on request. The gauge is omitted while `read` returns null. */
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

  /** Adds a gauge with one label. `read` returns its current values and is called when the metrics are requested. */
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

  /** Adds a counter whose total the node counts elsewhere. */
  total(name: string, help: string, read: () => number): void {
    new Counter({
      ...this.named(name, help),
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  /** Adds a counter with one label. The node keeps the totals; `read` returns them when the metrics are requested. */
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

  /** Adds a counter that the caller increments with each event. */
  counter(name: string, help: string): Counter {
    return new Counter(this.named(name, help));
  }

  labelledCounter<L extends string>(name: string, help: string, label: L): Counter<L> {
    return new Counter({ ...this.named(name, help), labelNames: [label] });
  }

  /** Adds a histogram of durations in seconds. */
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
