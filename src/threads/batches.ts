/** Items for another thread, posted together: what comes up in one round of the event loop is one message. */

import type { Transferable } from 'node:worker_threads';

/** Either side of a port, as far as it is posted to. */
export interface PostingPort {
  postMessage(message: unknown, transfer: readonly Transferable[]): void;
}

export class Batches<Item> {
  private readonly port: PostingPort;
  /** Runs before a batch is posted, and may add to it; what it promises is waited for. */
  private readonly before: () => Promise<void> | undefined;
  private items: Item[] = [];
  private transfer: Transferable[] = [];
  private isDue = false;

  constructor(port: PostingPort, before: () => Promise<void> | undefined) {
    this.port = port;
    this.before = before;
  }

  /** Bytes in `transfer` go over as they are, and are gone here. */
  add(item: Item, transfer: readonly Transferable[] = []): void {
    this.items.push(item);
    this.transfer.push(...transfer);
    this.schedule();
  }

  /** Comes before all that waits. */
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
