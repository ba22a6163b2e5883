/** Batches of work: values that arrive while a batch runs form the next batch. */

interface Item<T> {
  readonly value: T;
  resolve(): void;
  reject(error: unknown): void;
}

export class BatchedWork<T> {
  readonly #work: (values: readonly T[]) => Promise<void>;
  #next: Item<T>[] = [];
  #isWorking = false;

  constructor(work: (values: readonly T[]) => Promise<void>) {
    this.#work = work;
  }

  /** Adds a value to the current batch. Resolves or rejects when the batch of the value does. */
  add(value: T): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#next.push({ value, resolve, reject });
      if (!this.#isWorking) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isWorking = true;
    while (this.#next.length > 0) {
      const batch = this.#next;
      this.#next = [];
      try {
        await this.#work(batch.map(({ value }) => value));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isWorking = false;
  }
}
