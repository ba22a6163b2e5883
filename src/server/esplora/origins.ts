/**
 * Origins of web pages that may read responses (`-esploraorigin`). Origins are checked by the rules of CORS. Source: Fetch
 * standard, "CORS protocol".
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

const METHODS = 'GET, HEAD, POST, OPTIONS';
/** Seconds for which a browser may cache the response to a CORS preflight request. */
const MAX_AGE_SEC = 86_400;

const NO_HEADERS: readonly string[] = [];
const ANY_ORIGIN: readonly string[] = ['Access-Control-Allow-Origin', '*'];

export class Origins {
  private readonly allowed: ReadonlySet<string>;
  private readonly allowsAll: boolean;

  /**
   * Creates the check. `origins` contains the allowed origins in the form that browsers send (`https://wallet.example`), or
   * `*` for any origin.
   */
  constructor(origins: readonly string[]) {
    this.allowed = new Set(origins.map((origin) => origin.toLowerCase().replace(/\/$/, '')));
    this.allowsAll = this.allowed.has('*');
  }

  /** Whether pages of `origin` may read responses. A request without an origin does not come from a web page and is allowed. */
  allows(origin: string | undefined): boolean {
    return origin === undefined || this.allowsAll || this.allowed.has(origin.toLowerCase());
  }

  /** CORS headers of a response: alternating names and values. */
  headersFor(origin: string | undefined): readonly string[] {
    if (origin === undefined || !this.allows(origin)) return NO_HEADERS;
    if (this.allowsAll) return ANY_ORIGIN;
    return ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin'];
  }

  /** Responds to a CORS preflight request. */
  preflight({ headers }: IncomingMessage, response: ServerResponse): void {
    if (headers.origin !== undefined && this.allows(headers.origin)) {
      response.setHeader('Access-Control-Allow-Origin', headers.origin);
      response.setHeader('Access-Control-Allow-Methods', METHODS);
      const wanted = headers['access-control-request-headers'];
      if (wanted !== undefined) response.setHeader('Access-Control-Allow-Headers', wanted);
      response.setHeader('Access-Control-Max-Age', MAX_AGE_SEC);
    }
    response.writeHead(204).end();
  }
}
