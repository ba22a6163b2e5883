/** Runs asynchronous tasks one after the other, in the order of submission. */
export class SerialQueue {
  private tail: Promise<unknown> = Promise.resolve();

  /** Runs a task after all earlier ones. Resolves or rejects like the task; a failed task does not stop later ones. */
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
