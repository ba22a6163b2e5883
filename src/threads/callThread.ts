/** Handle of a worker thread that serves calls by method name. The thread runs `serveThread`. */
import { Worker, type Transferable } from 'node:worker_threads';
import { projectFile } from '../util/project.js';
import { Caller } from './caller.js';
import type { CrossingErrors } from './crossingErrors.js';
import type { AnswerItem, NoticeItem } from './protocol.js';

/** Connection to a thread, in the thread that started it. A `Worker` is such a connection. */
export interface ThreadEnd {
  postMessage(message: unknown, transfer: readonly Transferable[]): void;
  on(event: 'message', listener: (items: readonly (AnswerItem | NoticeItem)[]) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'exit', listener: (code: number) => void): unknown;
  ref(): void;
  unref(): void;
  terminate(): Promise<unknown>;
}

export interface CallThreadOptions {
  /** Path of the thread's program below `dist`. */
  readonly program: readonly string[];
  /**
   * `data`: the value of `workerData` in the thread. `transfer`: the buffers and ports in `data` that are transferred
   * instead of copied.
   */
  readonly data: unknown;
  readonly transfer?: readonly Transferable[];
  /** Starts the program. By default in a worker thread of its own. */
  readonly start?: (
    program: readonly string[],
    data: unknown,
    transfer: readonly Transferable[],
  ) => ThreadEnd;
  readonly errors: CrossingErrors;
  /** Creates the error of calls after the end of the thread. `why` is the error that ended the thread, or its exit code. */
  readonly ended: (why: Error | number, isClosing: boolean) => Error;
  /** Whether pending calls keep the process alive. */
  readonly keepsAlive: boolean;
  readonly onNotice?: (text: string) => void;
}

function startWorker(program: readonly string[], data: unknown, transfer: readonly Transferable[]): Worker {
  return new Worker(projectFile('dist', ...program), { workerData: data, transferList: [...transfer] });
}

export class CallThread {
  private readonly options: CallThreadOptions;
  private readonly worker: ThreadEnd;
  private readonly caller: Caller;
  private failure: Error | null = null;
  private isClosing = false;
  /** Resolves when the thread has ended. The value is the reason. */
  readonly exited: Promise<string>;

  constructor(options: CallThreadOptions) {
    const { program, data, transfer = [], errors, start = startWorker } = options;
    this.options = options;
    this.worker = start(program, data, transfer);
    this.worker.unref();
    this.caller = new Caller({
      post: (item, buffers) => this.worker.postMessage([item], buffers),
      errors,
    });
    this.worker.on('message', (items) => {
      for (const item of items) {
        if (item[0] === 'notice') options.onNotice?.(item[1]);
        else this.caller.receive(item);
      }
      if (this.caller.waitingCount === 0) this.worker.unref();
    });
    let cause: Error | null = null;
    this.worker.on('error', (error) => {
      cause = error instanceof Error ? error : new Error(String(error));
      this.fail(cause);
    });
    this.exited = new Promise((resolve) => {
      this.worker.on('exit', (code) => {
        this.fail(cause ?? code);
        resolve(cause?.message ?? `exit code ${code}`);
      });
    });
  }

  /** Whether the thread still serves calls. */
  get isUp(): boolean {
    return this.failure === null;
  }

  /** Number of pending calls. */
  get waitingCount(): number {
    return this.caller.waitingCount;
  }

  /** Calls a method of the thread's object. Rejects with the error of the method, or if the thread has ended. */
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

  /** Calls `close` of the thread's object, and waits for the end of the thread. */
  async close(): Promise<void> {
    this.worker.ref();
    await this.call('close', []).catch(() => undefined);
    this.worker.ref();
    await this.exited;
  }

  /** Ends the thread immediately. Its pending calls reject. */
  async terminate(): Promise<void> {
    await this.worker.terminate();
    await this.exited;
  }

  private fail(why: Error | number): void {
    this.failure ??= this.options.ended(why, this.isClosing);
    this.caller.endAll(this.failure);
  }
}
