/** A thread of the search index, for its callers. */
import { Worker, type MessagePort } from 'node:worker_threads';
import { projectFile } from '../../util/project.js';
import { packArguments } from '../document/packedSources.js';
import { SearchError } from '../query/searchError.js';
import { errorOf, type WorkerAnswer } from '../sqlite/workerProtocol.js';

/** A thread with the calls that it has not answered. */
export class WorkerPort {
  private readonly worker: Worker;
  private readonly calls = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: Error) => void }
  >();
  private nextId = 0;
  private failure: Error | null = null;
  private isClosing = false;
  /** Resolves when the thread has ended: to the reason that it reported. */
  readonly exited: Promise<string>;

  /** `program` is the file of `dist/search` that answers calls in its role. */
  constructor(program: string, role: object, transferList: readonly MessagePort[] = []) {
    const file = projectFile('dist', 'search', program);
    this.worker = new Worker(file, { workerData: role, transferList: [...transferList] });
    this.worker.unref();
    this.worker.on('message', (answer: WorkerAnswer) => {
      const call = this.calls.get(answer.id)!;
      this.calls.delete(answer.id);
      if ('error' in answer) call.reject(errorOf(answer.error));
      else call.resolve(answer.result);
    });
    let why: string | null = null;
    this.worker.on('error', (error: unknown) => {
      why = error instanceof Error ? error.message : String(error);
      this.fail(why);
    });
    this.exited = new Promise((resolve) => {
      this.worker.on('exit', (code) => {
        why ??= `code ${code}`;
        this.fail(why);
        resolve(why);
      });
    });
  }

  /** Whether it still answers. */
  get isUp(): boolean {
    return this.failure === null;
  }

  call(method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.failure !== null) return Promise.reject(this.failure);
    this.isClosing ||= method === 'close';
    return new Promise((resolve, reject) => {
      const id = this.nextId++;
      this.calls.set(id, { resolve, reject });
      const packed = packArguments(args);
      this.worker.postMessage({ id, method, args: packed.args }, packed.transfer);
    });
  }

  private fail(why: string): void {
    const text = this.isClosing
      ? 'The search index is closed'
      : `A thread of the search index has ended: ${why}`;
    this.failure ??= new SearchError('unavailable', text);
    for (const { reject } of this.calls.values()) reject(this.failure);
    this.calls.clear();
  }
}
