/**
 * Who may use the chain when. Changes of the chain run one after the other. Tasks that only need the tip to stay as it is (the
 * mempool accepts a transaction) run one after the other too, and also while a block is being checked: until its effects are
 * committed, coins, claims and tip are those of its parent. The commit waits for the running task only.
 */
import type { LoadedBlock } from './blocks/loadedBlock.js';
import type { Bytes } from '../util/bytes.js';
import { PriorityLock } from '../scheduler/priorityLock.js';
import { SerialQueue } from '../scheduler/serialQueue.js';

export class ChainTurns {
  private readonly queue = new SerialQueue();
  private readonly tip = new PriorityLock();
  private pending = 0;
  /** The block that is being checked while tasks at the tip run. */
  private checked: LoadedBlock | null = null;
  private readonly refuse: () => void;

  /** `refuse` throws when no task may run any more. */
  constructor(refuse: () => void = () => undefined) {
    this.refuse = refuse;
  }

  /** Whether a task of `alone` runs or waits. */
  get isBusy(): boolean {
    return this.pending > 0;
  }

  /** Runs a task during which nothing else changes the chain or runs at the tip, after those submitted before. */
  alone<T>(task: () => Promise<T>): Promise<T> {
    this.pending++;
    return this.queue.run(async () => {
      await this.tip.acquire();
      try {
        this.refuse();
        return await task();
      } finally {
        this.pending--;
        this.tip.release();
      }
    });
  }

  /**
   * Runs a task during which the tip does not change; it does not wait for tasks of `alone` that have not begun, or check a
   * block. It must not wait for a task of `alone`.
   */
  atTip<T>(task: () => Promise<T>): Promise<T> {
    return this.tip.run(async () => {
      this.refuse();
      return task();
    });
  }

  /** Whether the block that is being checked has the transaction. */
  isBeingConfirmed(txid: Bytes): boolean {
    if (this.checked === null) return false;
    const { txids, txCount } = this.checked.parsed;
    for (let at = txids.indexOf(txid); at >= 0; at = txids.indexOf(txid, at + 1))
      if (at % txid.length === 0) return at < txCount * txid.length;
    return false;
  }

  /**
   * Part of a task of `alone`: checks a block while tasks at the tip run. `check` awaits `close` before it changes anything that
   * they read; from then on none runs.
   */
  async whileChecking<T>(block: LoadedBlock, check: (close: () => Promise<void>) => Promise<T>): Promise<T> {
    const close = async (): Promise<void> => {
      if (this.checked === null) return;
      await this.tip.acquire();
      this.checked = null;
    };
    this.checked = block;
    this.tip.release();
    try {
      return await check(close);
    } finally {
      await close();
    }
  }

  /** Resolves when the tasks of `alone` submitted so far have ended. */
  idle(): Promise<void> {
    return this.queue.idle();
  }
}
