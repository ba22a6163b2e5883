/** Total time of each step of connecting blocks, for the log category `bench` and the benchmarks. */
export type Step = 'accept' | 'coins' | 'inputs' | 'claims' | 'scripts' | 'commit' | 'flush';

export class StepTimers {
  private readonly totals = new Map<Step, number>();
  private current: Step | null = null;
  private since = 0;
  /** Number of inputs of the connected blocks, without coinbase inputs. */
  inputs = 0;
  /** Called after each step of connecting a block, with the duration of the step in ms. */
  onStep: ((step: Step, ms: number) => void) | null = null;

  /** Ends the current step and starts another. */
  start(step: Step): void {
    this.stop();
    this.current = step;
    this.since = performance.now();
  }

  stop(): void {
    if (this.current === null) return;
    this.add(this.current, performance.now() - this.since);
    this.current = null;
  }

  add(step: Step, ms: number): void {
    this.totals.set(step, (this.totals.get(step) ?? 0) + ms);
    this.onStep?.(step, ms);
  }

  /** Total milliseconds of each step since the start of the node. */
  snapshot(): Record<string, number> {
    return Object.fromEntries(this.totals);
  }
}
