/** What a search can fail with, and the codes of the hub's protocol for it (hub errors 1 and -32000). */

/** The caller's fault (`bad-request`), a search that took too long (`timeout`), an index that cannot answer yet or is damaged. */
export type SearchErrorKind = 'bad-request' | 'timeout' | 'unavailable' | 'damaged';

export class SearchError extends Error {
  override readonly name = 'SearchError';
  readonly kind: SearchErrorKind;

  constructor(kind: SearchErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }

  /** The code by which a hub's client knows it. Source: lbryio/hub, `RPCError` codes of `session.py`. */
  get code(): number {
    return this.kind === 'bad-request' ? 1 : this.kind === 'timeout' ? -32000 : -32603;
  }
}

/** The thread that would answer has ended. */
export class ThreadEndedError extends SearchError {
  constructor(message: string) {
    super('unavailable', message);
  }
}

export function badRequest(message: string): SearchError {
  return new SearchError('bad-request', message);
}
