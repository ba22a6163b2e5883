/** Which web pages may read answers (`-esploraorigin`), by the rules of CORS. Source: Fetch standard, "CORS protocol". */
import type { IncomingMessage, ServerResponse } from 'node:http';

const METHODS = 'GET, HEAD, POST, OPTIONS';
/** How long a browser remembers what it was told. */
const MAX_AGE_SEC = 86_400;

export class Origins {
  private readonly allowed: ReadonlySet<string>;
  private readonly allowsAll: boolean;

  /** Origins as browsers send them (`https://wallet.example`), or `*` for any. */
  constructor(origins: readonly string[]) {
    this.allowed = new Set(origins.map((origin) => origin.toLowerCase().replace(/\/$/, '')));
    this.allowsAll = this.allowed.has('*');
  }

  /** Whether pages of the origin may read answers; what has no origin is no page. */
  allows(origin: string | undefined): boolean {
    return origin === undefined || this.allowsAll || this.allowed.has(origin.toLowerCase());
  }

  /** Says in the answer that the page may read it. */
  allow(origin: string | undefined, response: ServerResponse): void {
    if (origin === undefined || !this.allows(origin)) return;
    response.setHeader('Access-Control-Allow-Origin', this.allowsAll ? '*' : origin);
    if (!this.allowsAll) response.setHeader('Vary', 'Origin');
  }

  /** Answers the question that a browser asks before a request of some kinds. */
  preflight({ headers }: IncomingMessage, response: ServerResponse): void {
    if (headers.origin !== undefined && this.allows(headers.origin)) {
      response.setHeader('Access-Control-Allow-Methods', METHODS);
      const wanted = headers['access-control-request-headers'];
      if (wanted !== undefined) response.setHeader('Access-Control-Allow-Headers', wanted);
      response.setHeader('Access-Control-Max-Age', MAX_AGE_SEC);
    }
    response.writeHead(204).end();
  }
}
