/**
 * Parts of requests to the web server of the explorer: targets, cookies and checks of headers, and the headers that each
 * response has. Source of the headers: OWASP Secure Headers Project; W3C Content Security Policy 3.
 */
import type { IncomingMessage } from 'node:http';
import type { Look } from '../page/document.js';
import { PageError } from './pageContext.js';

const MAX_URL_CHARS = 4096;

/** Returns the security headers that every response has. */
export function securityHeaders(showsPictures: boolean): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self'${showsPictures ? ' https:' : ''}`,
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'X-Frame-Options': 'DENY',
  };
}

/** Returns the path for a redirect. Returns the home page if a browser could interpret the path as a URL of another site. */
export function localPath(path = '/'): string {
  return /^\/(?!\/)[\x21-\x7e]*$/.test(path) && !path.includes('\\') ? path : '/';
}

/**
 * If the request target is a whole URL, replaces the target by the path of the URL, and the `Host` header by its host (RFC 9112,
 * section 3.2.2). Proxies may send this form.
 */
export function splitTarget(request: IncomingMessage): void {
  const [, host, rest = ''] = /^http:\/\/([^/?]*)(.*)$/is.exec(request.url ?? '') ?? [];
  if (host === undefined) return;
  request.headers.host = host;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
}

/** Query parameters that choose a block or a position in a list. */
const PLACES = ['after', 'block', 'coins', 'from', 'before', 'skip', 'tx'] as const;

/** Returns the path of a page as of now, from the beginning of its list. */
export function withoutPlace(path: string, search: string): string {
  const query = new URLSearchParams(search);
  for (const name of PLACES) query.delete(name);
  return localPath(query.size === 0 ? path : `${path}?${query}`);
}

/** Splits the target of a request into its path and its query. */
export function splitUrl(url: string): [path: string, search: string] {
  const queryAt = url.indexOf('?');
  return queryAt < 0 ? [url, ''] : [url.slice(0, queryAt), url.slice(queryAt + 1)];
}

/** Returns the error page for a request that the HTTP parser of Node refused with this error code. */
export function unreadableOf(code: string | undefined): PageError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new PageError(
      414,
      'This address is too long',
      'The address or the headers of the request are too long.',
    );
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new PageError(408, 'The request is incomplete', 'It was not received in time.');
  return new PageError(400, 'This request is malformed', 'It is not a valid HTTP/1.1 request.');
}

export const isTooLong = (url = ''): boolean => url.length > MAX_URL_CHARS;

/** Whether another site caused the request, as browsers report (W3C Fetch Metadata Request Headers). */
export function isForeign({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

/** Returns the error page for a request that another site must not cause; null for other requests. */
export function refusalOf(path: string, first: string, query: URLSearchParams): PageError | null {
  if (first === 'console' && query.has('run'))
    return new PageError(
      403,
      'Another site started this call',
      'Methods are called only from the page of the console.',
      [['/console', 'Console']],
    );
  if (path !== '/look') return null;
  return new PageError(
    403,
    'Another site made this choice',
    'Colours and pictures are chosen only on these pages.',
    [[localPath(query.get('back') ?? '/'), 'Back to the page']],
  );
}

/** Parses the `Cookie` header; returns only cookies that the explorer itself sets. */
export function cookiesOf(header: string | undefined): ReadonlyMap<string, string> {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim().split('=', 2));
  return new Map(pairs.filter(([name]) => name).map(([name, value = '']) => [name!, value]));
}

export function schemeOf(text: string | undefined | null): Look['scheme'] {
  return text === 'dark' || text === 'light' ? text : null;
}

/** Returns the first segment of a path, decoded as for `pageOf`. Empty for a malformed segment. */
export function firstPartOf(path: string): string {
  try {
    return decodeURIComponent(path.split('/', 2)[1] ?? '');
  } catch {
    return '';
  }
}

/**
 * Decodes the segments of a path. An empty last segment is removed, except for the root. Throws `PageError` for a malformed
 * segment.
 */
export function partsOf(path: string): string[] {
  try {
    const parts = path.slice(1).split('/').map(decodeURIComponent);
    if (parts.length > 1 && parts.at(-1) === '') parts.pop();
    return parts;
  } catch {
    throw new PageError(400, 'This address is malformed', 'A part of it is not UTF-8 in percent encoding.');
  }
}
