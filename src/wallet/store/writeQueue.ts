/**
 * The order in which a wallet file is written: changes are written one after the other, and changes that are requested in
 * the same event loop turn share a sync. After a failure no more changes are written. So the written changes are always a
 * beginning of the sequence of requested changes.
 */
import type { RowChange } from '../../store/rows/rowRecords.js';
import { environmentError } from '../../util/text/environmentError.js';

/** The operations on the file. Each throws on a disk error and leaves the file unchanged in that case. */
export interface WriteTasks {
  append(changes: readonly RowChange[]): void;
  /** Rewrites the file with `changes`. */
  replace(changes: readonly RowChange[]): Promise<void>;
  sync(): Promise<void>;
}

interface Waiting {
  readonly changes: readonly RowChange[];
  readonly sync: boolean;
  /** Whether the changes are written by creating the whole file again. */
  readonly isRewrite: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class WriteQueue {
  private readonly path: string;
  private readonly tasks: WriteTasks;
  private waiting: Waiting[] = [];
  /** Resolves when all requested writes are complete; never rejects. */
  private writing: Promise<void> | null = null;
  /** The first error of a write. All later writes are rejected with it. */
  private failure: unknown = null;

  constructor(path: string, tasks: WriteTasks) {
    this.path = path;
    this.tasks = tasks;
  }

  /** Whether a write has failed, so that no more changes are written. */
  get hasFailed(): boolean {
    return this.failure !== null;
  }

  /** Whether requested writes are not complete. */
  get isBusy(): boolean {
    return this.writing !== null;
  }

  /**
   * Requests a write of `changes`. Resolves when the changes are written, or with `sync` when they are durable. Rejects with
   * `EnvironmentError` for a disk error.
   */
  ask(
    changes: readonly RowChange[],
    { sync, isRewrite }: { sync: boolean; isRewrite: boolean },
  ): Promise<void> {
    const done = new Promise<void>((resolve, reject) => {
      this.waiting.push({ changes, sync, isRewrite, resolve, reject });
    });
    this.writing ??= this.writeWaiting();
    return done;
  }

  /** Runs a task while no write is running. Writes that are requested during the task start after it. */
  async alone(task: () => Promise<void>): Promise<void> {
    await this.settled();
    const running = task();
    this.writing = running.catch(() => undefined);
    try {
      await running;
    } finally {
      this.writing = this.waiting.length > 0 ? this.writeWaiting() : null;
    }
  }

  /** Resolves when no write is in progress. */
  async settled(): Promise<void> {
    while (this.writing !== null) await this.writing;
  }

  private async writeWaiting(): Promise<void> {
    // Other requests of the same event loop turn are added first, so that they share a sync.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const first = this.waiting.findIndex(({ isRewrite }) => isRewrite);
      const turn = this.waiting.splice(0, first < 0 ? this.waiting.length : Math.max(first, 1));
      if (first === 0) await this.replace(turn[0]!);
      else await this.append(turn);
    }
    this.writing = null;
  }

  private async replace(one: Waiting): Promise<void> {
    try {
      if (this.failure !== null) throw this.failure;
      await this.tasks.replace(one.changes);
      one.resolve();
    } catch (error) {
      this.fail(error, [one]);
    }
  }

  /** Writes commits one by one. If one fails, the commits before it stay written. */
  private async append(turn: readonly Waiting[]): Promise<void> {
    let written = 0;
    try {
      if (this.failure !== null) throw this.failure;
      for (const { changes } of turn) {
        this.tasks.append(changes);
        written++;
      }
    } catch (error) {
      this.fail(error, turn.slice(written));
    }
    const kept = turn.slice(0, written);
    try {
      if (kept.some(({ sync }) => sync)) await this.tasks.sync();
      for (const { resolve } of kept) resolve();
    } catch (error) {
      this.fail(error, kept);
    }
  }

  private fail(error: unknown, those: readonly Waiting[]): void {
    this.failure ??= error;
    const known = environmentError(error, this.path);
    for (const { reject } of those) reject(known);
  }
}
