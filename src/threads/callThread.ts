/** A worker thread that answers calls by method name, seen from outside. The thread runs `serveThread`. */
import { Worker, type Transferable } from 'node:worker_threads';
import { projectFile } from '../util/project.js';
import { Caller } from './caller.js';
import type { CrossingErrors } from './crossingErrors.js';
import type { AnswerItem, NoticeItem } from './protocol.js';

export interface CallThreadOptions {
  /** The thread's program, as a path below `dist`. */
  readonly program: readonly string[];
  /** What the program finds in `workerData`, and what of it is handed over. */
  readonly data: unknown;
  readonly transfer?: readonly Transferable[];
  readonly errors: CrossingErrors;
  /** Error of calls after the end of the thread: `why` is what ended it, or its exit code. */
  readonly ended: (why: Error | number, isClosing: boolean) => Error;
  /** Whether the process stays alive while calls wait. */
  readonly keepsAlive: boolean;
  readonly onNotice?: (text: string) => void;
}

export class CallThread {
  private readonly options: CallThreadOptions;
  private readonly worker: Worker;
  private readonly caller: Caller;
  private failure: Error | null = null;
  private isClosing = false;
  /** Resolves when the thread has ended: to the reason. */
  readonly exited: Promise<string>;

  constructor(options: CallThreadOptions) {
    const { program, data, transfer = [], errors } = options;
    this.options = options;
    this.worker = new Worker(projectFile('dist', ...program), {
      workerData: data,
      transferList: [...transfer],
    });
    this.worker.unref();
    this.caller = new Caller({
      post: (item, buffers) => this.worker.postMessage([item], buffers),
      errors,
    });
    this.worker.on('message', (items: readonly (AnswerItem | NoticeItem)[]) => {
      for (const item of items) {
        if (item[0] === 'notice') options.onNotice?.(item[1]);
        else this.caller.receive(item);
      }
      if (this.caller.waitingCount === 0) this.worker.unref();
    });
    let cause: Error | null = null;
    this.worker.on('error', (error: unknown) => {
      cause = error instanceof Error ? error : new Error(String(error));
      this.fail(cause);
    });
    this.exited = new Promise((resolve) => {
      this.worker.on('exit', (code) => {
        this.fail(cause ?? code);
        resolve(cause?.message ?? `code ${code}`);
      });
    });
  }

  /** Whether it still answers. */
  get isUp(): boolean {
    return this.failure === null;
  }

  /** Number of pending calls. */
  get waitingCount(): number {
    return this.caller.waitingCount;
  }

  /** Rejects with the error of the method, or where the thread has ended. */
  async call(
    method: string,
    args: readonly unknown[],
    transfer: readonly Transferable[] = [],
  ): Promise<unknown> {
    if (this.failure !== null) throw this.failure;
    this.isClosing ||= method === 'close';
    const answer = this.caller.call(method, args, transfer, null);
    if (this.options.keepsAlive) this.worker.ref();
    return answer.value();
  }

  /** Calls `close` of the thread's object and waits for the end of the thread. */
  async close(): Promise<void> {
    this.worker.ref();
    await this.call('close', []).catch(() => undefined);
    this.worker.ref();
    await this.exited;
  }

  /** Ends the thread immediately; its pending calls are rejected. */
  async terminate(): Promise<void> {
    await this.worker.terminate();
    await this.exited;
  }

  private fail(why: Error | number): void {
    this.failure ??= this.options.ended(why, this.isClosing);
    this.caller.endAll(this.failure);
  }
}
