/**
 * Calls that block their thread until the other thread has answered. Caller and answering thread share a separate port, and
 * a cell of shared memory that is 1 when an answer is available.
 */
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import type { CrossingErrors } from './crossingErrors.js';
import type { AnswerItem, CallItem } from './protocol.js';

/** Maximum time in ms for a call. The answering thread is never busy for that long. */
const STANDSTILL_MS = 60_000;

export interface SyncCallsSetup {
  readonly port: MessagePort;
  /** Shared array with one element. The element is 1 when an answer is available. */
  readonly signal: Int32Array;
}

/** Methods that answer without a promise. */
type SyncMethods<Methods> = Record<keyof Methods, (...args: never[]) => unknown>;

export class SyncCaller<Methods extends SyncMethods<Methods>> {
  private readonly setup: SyncCallsSetup;
  private readonly errors: CrossingErrors;
  private nextId = 0;

  constructor(setup: SyncCallsSetup, errors: CrossingErrors) {
    this.setup = setup;
    this.errors = errors;
  }

  /**
   * Calls a method and blocks the thread until the result arrives. Throws the error of the method, or an error if the other
   * thread does not answer within a minute.
   */
  call<Name extends keyof Methods & string>(
    name: Name,
    ...args: Parameters<Methods[Name]>
  ): ReturnType<Methods[Name]> {
    const { port, signal } = this.setup;
    const id = this.nextId++;
    const until = performance.now() + STANDSTILL_MS;
    Atomics.store(signal, 0, 0);
    port.postMessage([['call', id, name, args] satisfies CallItem]);
    for (let left = STANDSTILL_MS; left > 0; left = until - performance.now()) {
      Atomics.wait(signal, 0, 0, left);
      Atomics.store(signal, 0, 0);
      // Answers of earlier calls that timed out may come first.
      for (let found = receiveMessageOnPort(port); found; found = receiveMessageOnPort(port)) {
        const [item] = found.message as [AnswerItem];
        if (item[1] === id) return this.resultOf(item) as ReturnType<Methods[Name]>;
      }
    }
    throw new Error('the other thread does not answer');
  }

  close(): void {
    this.setup.port.close();
  }

  private resultOf(item: AnswerItem): unknown {
    if (item[0] === 'value') return item[3];
    if (item[0] === 'error') throw this.errors.restore(item[3]);
    throw new Error(`a response of unknown kind ${item[0]} to a blocking call`);
  }
}

/** Answers the calls of a `SyncCaller` at the other end of `port`. The port does not keep the process running (`unref`). */
export function serveSyncCalls<Methods extends SyncMethods<Methods>>(
  { port, signal }: SyncCallsSetup,
  methods: Methods,
  errors: CrossingErrors,
): void {
  const served = methods as object as Record<string, (...all: readonly unknown[]) => unknown>;
  const answer = (item: CallItem): AnswerItem => {
    const [kind, id] = item;
    try {
      if (kind !== 'call') throw new Error(`an item of unknown kind ${kind} on a port for blocking calls`);
      return ['value', id, undefined, served[item[2]]!(...item[3])];
    } catch (error) {
      return ['error', id, undefined, errors.cross(error)];
    }
  };
  port.on('message', ([item]: [CallItem]) => {
    port.postMessage([answer(item)]);
    Atomics.store(signal, 0, 1);
    Atomics.notify(signal, 0);
  });
  port.unref();
}
