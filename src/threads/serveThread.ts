/** Server side of a `CallThread`, for the program that runs in the worker thread: serves calls with the methods of one object. */
import { parentPort, type MessagePort, type Transferable } from 'node:worker_threads';
import { nextRound } from '../scheduler/rounds.js';
import { Callee, answerCall, type RunningCall } from './callee.js';
import type { CrossingErrors } from './crossingErrors.js';
import type { AnswerItem, CallItem, NoticeItem } from './protocol.js';

export interface ServedObject {
  /** A message for the operator. It is sent before any result. */
  readonly notice?: string | null;
  /** Releases resources. Called before the thread ends. */
  close(): unknown;
}

export interface ServeOptions {
  readonly errors: CrossingErrors;
  /** Port of a program in a `SharedThread`. By default the port of the thread. */
  readonly port?: MessagePort;
  /** Converts an error of a method to the error that the caller receives. */
  readonly translate?: (error: unknown) => unknown;
  /** Converts the received arguments to the arguments of the methods. */
  readonly unpack?: (args: readonly unknown[]) => readonly unknown[];
  /** Whether calls run one after the other. If false, all calls run concurrently. */
  readonly inOrder: boolean;
  /** Whether the thread ends with an error if the object cannot be opened. If false, each call rejects with this error. */
  readonly endsUnopened?: boolean;
  /** Called after `close` of the object, before the port is closed. The object is not referenced any more. */
  readonly afterClose?: () => Promise<void>;
}

type Methods = Record<string, (...args: readonly unknown[]) => unknown>;

/** Opens an object with `open`, and serves calls of its methods. */
export function serveThread(open: () => Promise<object> | object, options: ServeOptions): void {
  const { errors, translate = (error) => error, unpack = (args) => args, inOrder, endsUnopened } = options;
  const port = options.port ?? parentPort!;
  // In a shared thread one call of each program runs in a turn of the event loop, so that the calls of one program do not
  // wait for all calls of another one.
  const turn = async (): Promise<void> => {
    if (options.port) await nextRound();
  };
  const post = (item: AnswerItem | NoticeItem, transfer: readonly Transferable[] = []): void =>
    port.postMessage([item], transfer);
  const callee = new Callee(post);
  let opened = (async () => {
    const target = await open();
    const { notice } = target as ServedObject;
    if (typeof notice === 'string' && notice !== '') post(['notice', notice]);
    return target as Methods;
  })();
  opened.catch((error: unknown) => {
    if (endsUnopened === true) throw error;
  });

  async function answer(call: RunningCall, method: string, args: readonly unknown[]): Promise<void> {
    const work = async (): Promise<unknown> => {
      const target = await opened;
      return call.isCancelled ? undefined : target[method]!(...unpack(args));
    };
    await answerCall(callee, call, work, (error) => errors.cross(translate(error)));
    if (method !== 'close') return;
    opened = Promise.reject(new Error('The object is closed'));
    opened.catch(() => undefined);
    await options.afterClose?.();
    port.close();
  }

  let last: Promise<void> = Promise.resolve();
  port.on('message', (items: readonly CallItem[]) => {
    for (const item of items) {
      if (item[0] !== 'call') callee.receive(item);
      else {
        const call = callee.begin(item[1]);
        if (inOrder) last = last.then(turn).then(() => answer(call, item[2], item[3]));
        else void answer(call, item[2], item[3]);
      }
    }
  });
}
