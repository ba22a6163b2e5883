/** The inside of a `CallThread`: answers calls with the methods of one object, one after the other. */
import { parentPort, type Transferable } from 'node:worker_threads';
import type { Call, CallAnswer, CallNotice } from './callThread.js';
import { EnvironmentError } from './text/environmentError.js';

/** A result whose buffers are handed over instead of copied. */
export class Transferred<Value = unknown> {
  readonly value: Value;
  readonly transfer: readonly Transferable[];

  constructor(value: Value, transfer: readonly Transferable[]) {
    this.value = value;
    this.transfer = transfer;
  }
}

export interface ServedObject {
  /** A text for the operator; it is sent before any answer. */
  readonly notice?: string | null;
  /** Ends the thread. */
  close(): unknown;
}

type Methods = Record<string, (...args: readonly unknown[]) => unknown>;

/**
 * Serves the object that `open` gives. Each call fails with the error of `open` where that fails. `translate` turns what a
 * method throws into the error that the caller gets.
 */
export function serveCalls(
  open: () => Promise<ServedObject> | ServedObject,
  translate: (error: unknown) => unknown = (error) => error,
): void {
  const port = parentPort!;
  const opened = (async () => {
    const target = await open();
    if (target.notice) port.postMessage({ notice: target.notice } satisfies CallNotice);
    return target;
  })();
  opened.catch(() => undefined);

  async function answer({ id, method, args }: Call): Promise<void> {
    try {
      const target = (await opened) as unknown as Methods;
      const result = await target[method]!(...args);
      if (result instanceof Transferred)
        port.postMessage({ id, result: result.value } satisfies CallAnswer, result.transfer);
      else port.postMessage({ id, result } satisfies CallAnswer);
    } catch (caught) {
      const error = translate(caught);
      port.postMessage({
        id,
        error: error instanceof Error ? error.message : String(error),
        isForOperator: error instanceof EnvironmentError,
      } satisfies CallAnswer);
    }
    if (method === 'close') port.close();
  }

  let last: Promise<void> = Promise.resolve();
  port.on('message', (call: Call) => {
    last = last.then(() => answer(call));
  });
}
