/** Threads of the daemon: a thread that answers calls one after the other, and what its errors are to the caller. */
import { CallThread } from '../../threads/callThread.js';
import { CrossingErrors, type ErrorKind } from '../../threads/crossingErrors.js';
import { serveThread, type ServedObject } from '../../threads/serveThread.js';
import { EnvironmentError } from '../../util/text/environmentError.js';

/** Its message is complete: the operator gets it as it is. */
const ENVIRONMENT_ERROR: ErrorKind<EnvironmentError> = {
  kind: 'EnvironmentError',
  type: EnvironmentError,
  restore: (message) => new EnvironmentError(message),
};

export interface DaemonThreadOptions {
  /** The program, as a path below `dist`. */
  readonly program: readonly string[];
  /** The `workerData` of the program. */
  readonly data: unknown;
  /** Name of the thread's task, as the subject of error messages: `The wallet's database`. */
  readonly title: string;
  readonly onNotice?: (text: string) => void;
}

/**
 * Starts a thread. Its calls reject with `EnvironmentError` for what the operator must mend, and with `Error` for other
 * failures. It keeps the process alive only while it has calls to answer.
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
 * The inside of such a thread: serves the object that `open` gives. Each call fails with the error of `open` where that fails.
 * `translate` turns what a method throws into the error that the caller gets.
 */
export function serveDaemonThread(
  open: () => Promise<ServedObject> | ServedObject,
  translate: (error: unknown) => unknown,
): void {
  serveThread(open, { errors: new CrossingErrors([ENVIRONMENT_ERROR]), translate, inOrder: true });
}
