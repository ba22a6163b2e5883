/**
 * Notifies subscribers about a wallet's transactions. Notifications are delayed while a transaction is created and sent.
 */
import type { Entry } from './ledger/entry.js';

export type WalletListener = (entry: Entry, isNew: boolean) => void;

export class WalletNotifier {
  /** Listeners, each with a function that returns whether the listener uses notifications at present. */
  private readonly listeners = new Map<WalletListener, () => boolean>();
  /** Delayed notifications: the changed transactions, and whether each one is new in the wallet. */
  private readonly held = new Map<Entry, boolean>();
  private holders = 0;
  private readonly waiting: (() => void)[] = [];

  /**
   * Adds a listener. `isUsed` returns false while the listener would ignore a notification. Returns a function that removes
   * the listener.
   */
  listen(listener: WalletListener, isUsed: () => boolean = () => true): () => void {
    this.listeners.set(listener, isUsed);
    return () => void this.listeners.delete(listener);
  }

  tell(entry: Entry, isNew: boolean): void {
    if (this.isHolding) this.held.set(entry, isNew || this.held.get(entry) === true);
    else for (const listener of this.listeners.keys()) listener(entry, isNew);
  }

  /** Whether any subscriber currently needs notifications. */
  get isUsed(): boolean {
    for (const isUsed of this.listeners.values()) if (isUsed()) return true;
    return false;
  }

  /** Removes all subscribers. */
  close(): void {
    this.listeners.clear();
  }

  get isHolding(): boolean {
    return this.holders > 0;
  }

  /** Runs a task when no notifications are delayed. The task must not throw. */
  whenFree(task: () => void): void {
    if (this.isHolding) this.waiting.push(task);
    else task();
  }

  /**
   * Runs a task, and delays notifications until the task has finished. Then one notification is sent for each changed
   * transaction. The delay is needed because balances are inconsistent from the spending of coins until the mempool has
   * accepted or rejected the transaction.
   */
  async hold<T>(task: () => Promise<T>): Promise<T> {
    this.holders++;
    try {
      return await task();
    } finally {
      this.holders--;
      if (!this.isHolding) {
        const held = [...this.held];
        this.held.clear();
        for (const [entry, isNew] of held) this.tell(entry, isNew);
        for (const task of this.waiting.splice(0)) task();
      }
    }
  }
}
