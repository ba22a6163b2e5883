/** Threads of the search index: how they are started and called, and how they answer. */
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

/** A thread of the search index with the calls that it has not answered. */
export class SearchThread {
  private readonly thread: CallThread;

  /** `program` is the file in `dist/search`; `role` is the thread's task. */
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
            : `A thread of the search index has ended: ${why instanceof Error ? why.message : `code ${why}`}`,
        ),
    });
  }

  /** Resolves when the thread has ended, with the reported reason. */
  get exited(): Promise<string> {
    return this.thread.exited;
  }

  /** Whether it still answers. */
  get isUp(): boolean {
    return this.thread.isUp;
  }

  /** Sources of documents are packed, and their memory is handed over. */
  call(method: string, args: readonly unknown[]): Promise<unknown> {
    const packed = packArguments(args);
    return this.thread.call(method, packed.args, packed.transfer);
  }
}

/** The inside of such a thread: serves the object that `open` gives. A thread that cannot start ends with its error. */
export function serveSearchThread(open: () => Promise<object> | object, inOrder: boolean): void {
  serveThread(open, { errors: ERRORS, unpack: unpackArguments, inOrder, endsUnopened: true });
}
