/** Items for another thread, posted together: all items of one turn of the event loop are sent in one message. */

import type { Transferable } from 'node:worker_threads';

/** Either side of a port, as a target of messages. */
export interface PostingPort {
  postMessage(message: unknown, transfer: readonly Transferable[]): void;
}

export class Batches<Item> {
  private readonly port: PostingPort;
  /** Called before a batch is posted, and may add items. A returned promise is awaited. */
  private readonly before: () => Promise<void> | undefined;
  private items: Item[] = [];
  private transfer: Transferable[] = [];
  private isDue = false;

  constructor(port: PostingPort, before: () => Promise<void> | undefined) {
    this.port = port;
    this.before = before;
  }

  /** Buffers in `transfer` are moved to the other thread and cannot be used here afterwards. */
  add(item: Item, transfer: readonly Transferable[] = []): void {
    this.items.push(item);
    this.transfer.push(...transfer);
    this.schedule();
  }

  /** Adds an item before all waiting ones. */
  addFirst(item: Item, transfer: readonly Transferable[] = []): void {
    this.items.unshift(item);
    this.transfer.push(...transfer);
    this.schedule();
  }

  schedule(): void {
    if (this.isDue) return;
    this.isDue = true;
    setImmediate(() => this.post());
  }

  post(): void {
    const wait = this.before();
    if (wait !== undefined) return void wait.then(() => this.post());
    this.isDue = false;
    const { items, transfer } = this;
    if (items.length === 0) return;
    this.items = [];
    this.transfer = [];
    this.port.postMessage(items, transfer);
  }
}
