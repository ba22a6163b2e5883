/**
 * The order in which a wallet file is written: one change after the other, those that came together with one sync. What was
 * acknowledged is a beginning of what was asked for: once something failed, nothing that may build on it is written any more.
 */
import type { RowChange } from '../../store/rows/rowRecords.js';
import { environmentError } from '../../util/text/environmentError.js';

/** What is done to the file; each throws where the disk refuses, and has changed nothing then. */
export interface WriteTasks {
  append(changes: readonly RowChange[]): void;
  /** Writes the file again. */
  replace(changes: readonly RowChange[]): Promise<void>;
  sync(): Promise<void>;
}

interface Waiting {
  readonly changes: readonly RowChange[];
  readonly sync: boolean;
  /** Whether the file is rewritten with them. */
  readonly isAnew: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class WriteQueue {
  private readonly path: string;
  private readonly tasks: WriteTasks;
  private waiting: Waiting[] = [];
  /** Settles when all that was asked for so far is written; never rejects. */
  private writing: Promise<void> | null = null;
  /** Reason why writes are refused. */
  private failure: unknown = null;

  constructor(path: string, tasks: WriteTasks) {
    this.path = path;
    this.tasks = tasks;
  }

  /** Whether something could not be written. */
  get hasFailed(): boolean {
    return this.failure !== null;
  }

  /** Resolves when it is written, and synced with `sync`. Rejects with `EnvironmentError` for the disk's sake. */
  ask(changes: readonly RowChange[], { sync, isAnew }: { sync: boolean; isAnew: boolean }): Promise<void> {
    const done = new Promise<void>((resolve, reject) => {
      this.waiting.push({ changes, sync, isAnew, resolve, reject });
    });
    this.writing ??= this.writeWaiting();
    return done;
  }

  /** Runs a task while nothing is written; what is asked for meanwhile is written afterwards. */
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

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    while (this.writing !== null) await this.writing;
  }

  private async writeWaiting(): Promise<void> {
    // What is asked for in the same turn goes together.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const first = this.waiting.findIndex(({ isAnew }) => isAnew);
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

  /** One commit after the other. Those before the first that cannot be written are kept. */
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
    const told = environmentError(error, this.path);
    for (const { reject } of those) reject(told);
  }
}
