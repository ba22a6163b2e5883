/**
 * Queues for tasks that change the chain or need an unchanged tip. Tasks of both types run one at a time. Tasks that only
 * need an unchanged tip (the mempool accepts a transaction) also run while a block is being checked, because coins, claims
 * and tip are those of the block's parent until its effects are committed. The commit waits only for the running task.
 */
import type { LoadedBlock } from './blocks/loadedBlock.js';
import type { Bytes } from '../util/bytes.js';
import { PriorityLock } from '../scheduler/priorityLock.js';
import { SerialQueue } from '../scheduler/serialQueue.js';

export class ChainQueue {
  private readonly queue = new SerialQueue();
  private readonly tip = new PriorityLock();
  private pending = 0;
  /** Block that is being checked while tasks at the tip may run. */
  private checked: LoadedBlock | null = null;
  private readonly refuse: () => void;

  /** Creates the queue. `refuse` throws when no task may run any more. */
  constructor(refuse: () => void = () => undefined) {
    this.refuse = refuse;
  }

  /** Whether a task passed to `alone` runs or waits. */
  get isBusy(): boolean {
    return this.pending > 0;
  }

  /**
   * Runs a task when all tasks submitted before have ended. During the task nothing else changes the chain or runs at the
   * tip.
   */
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
   * Runs a task during which the tip does not change; it waits only for a task of `alone` that has begun and does not check
   * a block. The task itself must not wait for a task of `alone`.
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
   * Checks a block within a task of `alone`, while tasks at the tip run. `check` must await `close` before it changes coins,
   * claims or tip. From then on no task at the tip runs.
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

  /** Resolves when the tasks that were passed to `alone` so far have ended. */
  idle(): Promise<void> {
    return this.queue.idle();
  }
}
