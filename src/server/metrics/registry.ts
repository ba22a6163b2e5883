/**
 * The node's own registry of metrics and the few shapes they have here. All names begin with `lbcnode_`. What can be read
 * from the node is read when a caller asks for the metrics, so that it costs nothing otherwise.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

export const METRICS_PREFIX = 'lbcnode_';

/** A value by the value of the one label. */
export type ByLabel = Iterable<readonly [label: string, value: number]>;

export class Metrics {
  readonly registry = new Registry();

  /** A value as of now; left out while `read` answers null. */
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

  /** Several values as of now, distinguished by a label. */
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

  /** A sum that the node keeps itself. */
  total(name: string, help: string, read: () => number): void {
    new Counter({
      ...this.named(name, help),
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  /** Sums that the node keeps itself, distinguished by a label. */
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

  /** A count of events. */
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
