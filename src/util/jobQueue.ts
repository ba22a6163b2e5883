/** A queue of asynchronous jobs with a bound on how many run and on how many wait. */

export class JobQueue {
  private readonly concurrency: number;
  private readonly depth: number;
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  /** Those that had a turn before. */
  private readonly returning: (() => void)[] = [];

  /** At most `concurrency` jobs run; at most `depth` more wait for their turn, first come first served. */
  constructor(concurrency: number, depth: number) {
    this.concurrency = concurrency;
    this.depth = depth;
  }

  /**
   * Waits for a turn and resolves with the function that ends it (calling it again does nothing); null at once when the
   * queue is full.
   */
  enter(): Promise<() => void> | null {
    if (this.running < this.concurrency) {
      this.running++;
      return Promise.resolve(this.leaver());
    }
    if (this.waiting.length >= this.depth) return null;
    return new Promise((resolve) => this.waiting.push(() => resolve(this.leaver())));
  }

  /** Waits for another turn, before those that have had none, however many wait; resolves as `enter` does. */
  reenter(): Promise<() => void> {
    if (this.running < this.concurrency) {
      this.running++;
      return Promise.resolve(this.leaver());
    }
    return new Promise((resolve) => this.returning.push(() => resolve(this.leaver())));
  }

  private leaver(): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = this.returning.shift() ?? this.waiting.shift();
      // The next job takes over the place of this one.
      if (next === undefined) this.running--;
      else next();
    };
  }
}
