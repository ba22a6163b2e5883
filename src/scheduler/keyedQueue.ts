/**
 * Runs asynchronous tasks with the same key one after the other, in the order of submission. Tasks with different keys run
 * concurrently.
 */
import { SerialQueue } from './serialQueue.js';

export class KeyedQueue {
  private readonly queues = new Map<string, { readonly queue: SerialQueue; tasks: number }>();

  /** Number of keys with a running or waiting task. */
  get size(): number {
    return this.queues.size;
  }

  /**
   * Runs a task after all earlier tasks with the same key. Resolves or rejects like the task; a failed task does not stop
   * later ones. A task must not wait for another task with its own key.
   */
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
