/** Runs asynchronous tasks one after the other, in the order in which they were handed in. */
export class SerialQueue {
  private tail: Promise<unknown> = Promise.resolve();

  /** Resolves or rejects as the task does; a failed task does not stop the next one. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.tail.then(task, task);
    this.tail = result.catch(() => undefined);
    return result;
  }

  /** Resolves when everything handed in so far has ended. */
  async idle(): Promise<void> {
    await this.tail;
  }
}
