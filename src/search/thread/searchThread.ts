/** Threads of the search index: how they are started, called and answered. */
import type { MessagePort } from 'node:worker_threads';
import { CallThread } from '../../threads/callThread.js';
import { CrossingErrors, type ErrorKind } from '../../threads/crossingErrors.js';
import { serveThread } from '../../threads/serveThread.js';
import { packArguments, unpackArguments } from '../document/packedSources.js';
import { SearchError, type SearchErrorKind } from '../query/searchError.js';

const SEARCH_ERROR: ErrorKind<SearchError> = {
  kind: 'SearchError',
  type: SearchError,
  fields: ({ kind }) => kind,
  restore: (message, kind: SearchErrorKind) => new SearchError(kind, message),
};

const ERRORS = new CrossingErrors([SEARCH_ERROR]);

/** A thread of the search index, and the calls that it has not answered yet. */
export class SearchThread {
  private readonly thread: CallThread;

  /** Starts the thread. `program` is a file in `dist/search`; `role` describes the thread's task. */
  constructor(program: readonly string[], role: object, transfer: readonly MessagePort[] = []) {
    this.thread = new CallThread({
      program: ['search', ...program],
      data: role,
      transfer,
      errors: ERRORS,
      keepsAlive: false,
      ended: (why, isClosing) =>
        new SearchError(
          'unavailable',
          isClosing
            ? 'The search index is closed'
            : `A thread of the search index has exited: ${why instanceof Error ? why.message : `code ${why}`}`,
        ),
    });
  }

  /** Resolves when the thread has ended, with the reason. */
  get exited(): Promise<string> {
    return this.thread.exited;
  }

  /** Whether the thread is running and answers calls. */
  get isUp(): boolean {
    return this.thread.isUp;
  }

  /** Calls a method in the thread. Document sources in the arguments are packed, and their memory is transferred. */
  call(method: string, args: readonly unknown[]): Promise<unknown> {
    const packed = packArguments(args);
    return this.thread.call(method, packed.args, packed.transfer);
  }
}

/**
 * Serves calls in a thread of the search index with the object that `open` returns. If `open` fails, the thread ends with
 * its error.
 */
export function serveSearchThread(open: () => Promise<object> | object, inOrder: boolean): void {
  serveThread(open, { errors: ERRORS, unpack: unpackArguments, inOrder, endsUnopened: true });
}
