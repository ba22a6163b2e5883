/** Errors of a search, with the error codes of the hub's protocol (1 and -32000). */

/**
 * Kinds of errors: an invalid request (`bad-request`), a timeout (`timeout`), an index that is not available yet
 * (`unavailable`), and a corrupt index (`corrupt`).
 */
export type SearchErrorKind = 'bad-request' | 'timeout' | 'unavailable' | 'corrupt';

export class SearchError extends Error {
  override readonly name = 'SearchError';
  readonly kind: SearchErrorKind;

  constructor(kind: SearchErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }

  /** Returns the error code for a hub's client. Source: lbryio/hub, `RPCError` codes of `session.py`. */
  get code(): number {
    return this.kind === 'bad-request' ? 1 : this.kind === 'timeout' ? -32000 : -32603;
  }
}

/** Error: the thread that should run the call has ended. */
export class ThreadEndedError extends SearchError {
  constructor(message: string) {
    super('unavailable', message);
  }
}

export function badRequest(message: string): SearchError {
  return new SearchError('bad-request', message);
}
