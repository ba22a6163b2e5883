/** A bound on how many tasks run at a time, and on how many wait for a turn. */
export class Slots {
  readonly #limit: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: number, maxWaiting = Infinity) {
    this.#limit = limit;
    this.#maxWaiting = maxWaiting;
  }

  /** Whether a task that comes now would be turned away. */
  get isFull(): boolean {
    return this.#running >= this.#limit && this.#waiting.length >= this.#maxWaiting;
  }

  /** Resolves or rejects as the task does; null if as many wait already as may. */
  async run<T>(task: () => Promise<T>): Promise<T | null> {
    if (this.isFull) return null;
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await task();
    } finally {
      // The place goes to the next one.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
