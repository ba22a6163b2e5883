/** Errors of a search, and their codes in the hub's protocol (hub errors 1 and -32000). */

/**
 * Error kinds: an invalid request (`bad-request`), a timeout (`timeout`), and an index that is not available yet or is
 * corrupt.
 */
export type SearchErrorKind = 'bad-request' | 'timeout' | 'unavailable' | 'damaged';

export class SearchError extends Error {
  override readonly name = 'SearchError';
  readonly kind: SearchErrorKind;

  constructor(kind: SearchErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }

  /** Error code for a hub's client. Source: lbryio/hub, `RPCError` codes of `session.py`. */
  get code(): number {
    return this.kind === 'bad-request' ? 1 : this.kind === 'timeout' ? -32000 : -32603;
  }
}

/** The thread of the call has ended. */
export class ThreadEndedError extends SearchError {
  constructor(message: string) {
    super('unavailable', message);
  }
}

export function badRequest(message: string): SearchError {
  return new SearchError('bad-request', message);
}
