/** Limits the number of running tasks and of waiting tasks. */
export class TaskSlots {
  private readonly limit: number;
  private readonly maxWaiting: number;
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(limit: number, maxWaiting = Infinity) {
    this.limit = limit;
    this.maxWaiting = maxWaiting;
  }

  /** Whether `run` would refuse a further task. */
  get isFull(): boolean {
    return this.running >= this.limit && this.waiting.length >= this.maxWaiting;
  }

  /** Runs the task when a slot is free. Resolves or rejects as the task does; resolves to null if the queue is full. */
  async run<T>(task: () => Promise<T>): Promise<T | null> {
    if (this.isFull) return null;
    if (this.running >= this.limit) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.running++;
    try {
      return await task();
    } finally {
      // The slot that became free goes to the task that has waited longest.
      const next = this.waiting.shift();
      if (next === undefined) this.running--;
      else next();
    }
  }
}
