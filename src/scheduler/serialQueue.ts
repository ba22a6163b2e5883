/** Runs asynchronous tasks one after the other, in the order of their submission. */
export class SerialQueue {
  private tail: Promise<unknown> = Promise.resolve();

  /** Resolves or rejects as the task does; a failed task does not stop the next one. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.tail.then(task, task);
    this.tail = result.catch(() => undefined);
    return result;
  }

  /** Resolves when all tasks submitted so far have ended. */
  async idle(): Promise<void> {
    await this.tail;
  }
}
