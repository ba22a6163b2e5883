/**
 * Runs asynchronous tasks of one key one after the other, in the order of their submission; tasks of different keys run
 * concurrently.
 */
import { SerialQueue } from './serialQueue.js';

export class KeyedQueue {
  private readonly queues = new Map<string, { readonly queue: SerialQueue; tasks: number }>();

  /** Keys with a running or waiting task. */
  get size(): number {
    return this.queues.size;
  }

  /** Resolves or rejects as the task does; a failed task does not stop the next one. A task must not wait for one of its own key. */
  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const one = this.queues.get(key) ?? { queue: new SerialQueue(), tasks: 0 };
    this.queues.set(key, one);
    one.tasks++;
    try {
      return await one.queue.run(task);
    } finally {
      if (--one.tasks === 0) this.queues.delete(key);
    }
  }
}
