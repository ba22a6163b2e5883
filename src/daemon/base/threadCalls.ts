/** A thread of the daemon. The thread answers calls one after the other, and its errors are converted for the caller. */
import type { MessagePort } from 'node:worker_threads';
import { nextRound } from '../../scheduler/rounds.js';
import { CallThread, type CallThreadOptions } from '../../threads/callThread.js';
import { CrossingErrors, type ErrorKind } from '../../threads/crossingErrors.js';
import { serveThread, type ServedObject } from '../../threads/serveThread.js';
import { SharedThread } from '../../threads/sharedThread.js';
import { EnvironmentError } from '../../util/text/environmentError.js';
import { threadPort } from '../../util/memory/idleCollection.js';
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

/** The thread in which all databases of the daemon run. */
const databaseThread = new SharedThread(['daemon', 'base', 'databaseWorker.js']);

/**
 * Starts a thread. Its calls reject with `EnvironmentError` for problems that the operator must fix, and with `Error` for
 * other failures. The thread keeps the process alive only while calls are pending.
 */
export function daemonThread(options: DaemonThreadOptions): CallThread {
  return startThread(options);
}

/** Like `daemonThread`, in the thread that the databases share. The program exports `serve`. */
export function daemonDatabase(options: DaemonThreadOptions): CallThread {
  return startThread(options, (program, data) => databaseThread.start(program, data));
}

function startThread(
  { program, data, title, onNotice }: DaemonThreadOptions,
  start?: CallThreadOptions['start'],
): CallThread {
  return new CallThread({
    program,
    data,
    ...(start && { start }),
    errors: new CrossingErrors([ENVIRONMENT_ERROR], (message) => new Error(`${title} failed: ${message}`)),
    ended: (why) => (why instanceof Error ? why : new Error(`${title} is closed`)),
    keepsAlive: true,
    ...(onNotice && { onNotice }),
  });
}

/** Code of a program that `daemonDatabase` started. Answers calls as `serveDaemonThread` does. */
export function serveDatabase(
  open: () => Promise<ServedObject> | ServedObject,
  translate: (error: unknown) => unknown,
  port: MessagePort,
): void {
  serveThread(open, {
    errors: new CrossingErrors([ENVIRONMENT_ERROR]),
    translate,
    inOrder: true,
    port,
    afterClose: finalizeStatements,
  });
}

/**
 * Collects garbage, so that the files of a closed database are closed although its thread continues. The package
 * `@photostructure/sqlite` keeps them open until the statements of the database are collected.
 */
async function finalizeStatements(): Promise<void> {
  // A statement can be collected after the event that used it.
  await nextRound();
  threadPort().collect(false);
  // Node runs finalizers of addons after the collection.
  await nextRound();
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
