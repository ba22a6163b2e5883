/** Sends items to another thread in batches: all items of one event loop turn are sent in one message. */

import type { Transferable } from 'node:worker_threads';
import { inNextRound } from '../scheduler/rounds.js';

/** Either end of a port to which messages can be posted. */
export interface PostingPort {
  postMessage(message: unknown, transfer: readonly Transferable[]): void;
}

export class Batches<Item> {
  private readonly port: PostingPort;
  /**
   * Called before a batch is posted. The function may add items. If it returns a promise, the batch is posted after the
   * promise.
   */
  private readonly before: () => Promise<void> | undefined;
  private items: Item[] = [];
  private transfer: Transferable[] = [];
  private isDue = false;

  constructor(port: PostingPort, before: () => Promise<void> | undefined) {
    this.port = port;
    this.before = before;
  }

  /** Adds an item. Buffers in `transfer` move to the other thread, so this thread cannot use them afterwards. */
  add(item: Item, transfer: readonly Transferable[] = []): void {
    this.items.push(item);
    this.transfer.push(...transfer);
    this.schedule();
  }

  /** Adds an item before all items that are waiting for the next batch. */
  addFirst(item: Item, transfer: readonly Transferable[] = []): void {
    this.items.unshift(item);
    this.transfer.push(...transfer);
    this.schedule();
  }

  schedule(): void {
    if (this.isDue) return;
    this.isDue = true;
    inNextRound(() => this.post());
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
