/**
 * Notifies subscribers of a wallet's transactions. Owns the notifications that are delayed while a transaction is created
 * and sent.
 */
import type { Entry } from './ledger/entry.js';

export type WalletListener = (entry: Entry, isNew: boolean) => void;

export class Announcements {
  /** With the test if anyone is notified by it. */
  private readonly listeners = new Map<WalletListener, () => boolean>();
  /** Delayed notifications, and whether each transaction is new. */
  private readonly held = new Map<Entry, boolean>();
  private holders = 0;
  private readonly waiting: (() => void)[] = [];

  /** `isUsed`: false while the listener would do nothing. */
  listen(listener: WalletListener, isUsed: () => boolean = () => true): () => void {
    this.listeners.set(listener, isUsed);
    return () => void this.listeners.delete(listener);
  }

  tell(entry: Entry, isNew: boolean): void {
    if (this.isHolding) this.held.set(entry, isNew || this.held.get(entry) === true);
    else for (const listener of this.listeners.keys()) listener(entry, isNew);
  }

  /** Whether a listener does anything with a transaction. */
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

  /** Runs a task, which must not throw, when no notification is delayed any more. */
  whenFree(task: () => void): void {
    if (this.isHolding) this.waiting.push(task);
    else task();
  }

  /**
   * Runs a task and sends the notifications afterwards, one for each changed transaction. Balances are inconsistent from the
   * spending of coins until the mempool has accepted or rejected the transaction.
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
