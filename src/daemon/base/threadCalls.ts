/** A thread of the daemon. The thread answers calls one after the other, and its errors are converted for the caller. */
import { CallThread } from '../../threads/callThread.js';
import { CrossingErrors, type ErrorKind } from '../../threads/crossingErrors.js';
import { serveThread, type ServedObject } from '../../threads/serveThread.js';
import { EnvironmentError } from '../../util/text/environmentError.js';
import { returnIdleMemory } from './idleMemory.js';

/** The message of an `EnvironmentError` is complete, so the operator sees it unchanged. */
const ENVIRONMENT_ERROR: ErrorKind<EnvironmentError> = {
  kind: 'EnvironmentError',
  type: EnvironmentError,
  restore: (message) => new EnvironmentError(message),
};

export interface DaemonThreadOptions {
  /** Path of the thread's program below `dist`. */
  readonly program: readonly string[];
  /** Value of `workerData` in the thread's program. */
  readonly data: unknown;
  /** Name of the thread's task, as the subject of error messages: `The wallet's database`. */
  readonly title: string;
  readonly onNotice?: (text: string) => void;
}

/**
 * Starts a thread. Its calls reject with `EnvironmentError` for problems that the operator must fix, and with `Error` for
 * other failures. The thread keeps the process alive only while calls are pending.
 */
export function daemonThread({ program, data, title, onNotice }: DaemonThreadOptions): CallThread {
  return new CallThread({
    program,
    data,
    errors: new CrossingErrors([ENVIRONMENT_ERROR], (message) => new Error(`${title} failed: ${message}`)),
    ended: (why) => (why instanceof Error ? why : new Error(`${title} is closed`)),
    keepsAlive: true,
    ...(onNotice && { onNotice }),
  });
}

/**
 * Code that runs in a thread started by `daemonThread`. Answers calls by the object that `open` returns. If `open` fails,
 * each call fails with the error of `open`. Returns unused memory while the thread is idle. `translate` converts an error
 * thrown by a method into the error for the caller.
 */
export function serveDaemonThread(
  open: () => Promise<ServedObject> | ServedObject,
  translate: (error: unknown) => unknown,
): void {
  serveThread(open, { errors: new CrossingErrors([ENVIRONMENT_ERROR]), translate, inOrder: true });
  returnIdleMemory();
}
