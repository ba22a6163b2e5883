/** Notifies subscribers of a wallet's transactions. Owns what is held back while one is made and sent. */
import type { Entry } from './ledger/entry.js';

export type WalletListener = (entry: Entry, isNew: boolean) => void;

export class Announcements {
  /** With the test if anyone is notified by it. */
  private readonly listeners = new Map<WalletListener, () => boolean>();
  /** What is to be told when nothing is sent any more, and whether it is new. */
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

  /** No one is notified of anything any more. */
  close(): void {
    this.listeners.clear();
  }

  get isHolding(): boolean {
    return this.holders > 0;
  }

  /** Runs a task, which must not throw, as soon as nothing is held back any more. */
  whenFree(task: () => void): void {
    if (this.isHolding) this.waiting.push(task);
    else task();
  }

  /**
   * Runs a task and tells afterwards of what has changed meanwhile, of each transaction once. Between the moment at which coins
   * are spent and that at which the mempool has answered, balances are of no state that there is.
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
