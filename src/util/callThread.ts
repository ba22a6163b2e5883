/**
 * A worker thread that answers calls by method name, one after the other, seen from outside. The thread runs `serveCalls`.
 * It keeps the process alive only while it has calls to answer.
 */
import { Worker, type Transferable } from 'node:worker_threads';
import { EnvironmentError } from './text/environmentError.js';
import { projectFile } from './project.js';

/** What goes to the thread. */
export interface Call {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** What comes back. */
export interface CallAnswer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
  /** Whether the error is an `EnvironmentError`, whose message is complete. */
  readonly isForOperator?: boolean;
}

/** A text for the operator; it comes before any answer. */
export interface CallNotice {
  readonly notice: string;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export interface CallThreadOptions {
  /** The program, as a path below `dist`. */
  readonly program: readonly string[];
  /** What the program finds in `workerData`. */
  readonly data: unknown;
  /** What the thread does, as the subject of error messages: `The wallet's database`. */
  readonly title: string;
  readonly onNotice?: (text: string) => void;
}

export class CallThread {
  readonly #worker: Worker;
  readonly #title: string;
  readonly #waiting = new Map<number, Waiting>();
  readonly #exited: Promise<void>;
  #nextId = 0;
  #failure: Error | null = null;

  constructor({ program, data, title, onNotice }: CallThreadOptions) {
    this.#title = title;
    this.#worker = new Worker(projectFile('dist', ...program), { workerData: data });
    this.#worker.unref();
    this.#worker.on('message', (message: CallAnswer | CallNotice) => {
      if ('notice' in message) onNotice?.(message.notice);
      else this.#take(message);
    });
    this.#worker.on('error', (error: Error) => this.#fail(error));
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#fail(new Error(`${title} is closed`));
        resolve();
      });
    });
  }

  /** Calls without an answer. */
  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** Rejects with `EnvironmentError` for what the operator must mend, and with `Error` for other failures. */
  call(method: string, args: readonly unknown[], transfer: readonly Transferable[] = []): Promise<unknown> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      const call: Call = { id: this.#nextId++, method, args };
      this.#worker.postMessage(call, transfer);
      this.#waiting.set(call.id, { resolve, reject });
      this.#worker.ref();
    });
  }

  /** Calls `close` of the thread's object and waits for the end of the thread. */
  async close(): Promise<void> {
    this.#worker.ref();
    await this.call('close', []).catch(() => undefined);
    this.#worker.ref();
    await this.#exited;
  }

  /** Ends the thread in the middle of what it does; its calls are rejected. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
    await this.#exited;
  }

  #take({ id, result, error, isForOperator }: CallAnswer): void {
    const call = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#worker.unref();
    if (error === undefined) call?.resolve(result);
    else if (isForOperator === true) call?.reject(new EnvironmentError(error));
    else call?.reject(new Error(`${this.#title} failed: ${error}`));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
