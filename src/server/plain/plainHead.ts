/**
 * Reads the head of a usual request on a connection that stays open: a JSON-RPC call, which is a POST of HTTP/1.1 with a
 * Content-Length and a password, or a GET without a body. For every other head, including invalid ones, the result is null,
 * and Node's HTTP parser handles the connection. So this code accepts less than HTTP allows, and never more. Source: RFC
 * 9112, sections 3, 5 and 6.
 */

/** Maximum length of a head in bytes. Arbitrary: heads of real clients have about 200 bytes. */
export const MAX_PLAIN_HEAD_BYTES = 2048;

/** Those parts of a request's head that affect a call. */
export interface PlainHead {
  readonly method: 'GET' | 'POST';
  readonly target: string;
  /** Value of the Authorization header; empty if a GET has none. The following members are header values too. */
  readonly authorization: string;
  readonly userAgent: string | undefined;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** Value of the Content-Length header; 0 for a GET. */
  readonly bodyBytes: number;
}

const GET_START = 'GET /';
const TARGET = /^\/[\x21-\x7e]*$/;
const REQUEST_LINE = /^(GET|POST) (\/[\x21-\x7e]*) HTTP\/1\.1$/;
/** A header line. After the colon at most one space is accepted, which is what clients send. */
const HEADER_LINE = /^([A-Za-z0-9-]+): ?([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/;
const LENGTH = /^\d{1,9}$/;
/** Headers that change how a request is read or answered. A request with one of them is left to Node's HTTP parser. */
const SPECIAL = new Set([
  'transfer-encoding',
  'expect',
  'upgrade',
  'trailer',
  'te',
  'http2-settings',
  'proxy-connection',
]);

/**
 * Reads the head of a GET that differs from the GET `earlier` only by its path; null if it differs in another way. `rest` is
 * the text of the earlier head after its path, from the space on.
 */
export function readSameGet(head: string, earlier: PlainHead, rest: string): PlainHead | null {
  if (!head.endsWith(rest) || !head.startsWith(GET_START)) return null;
  const target = head.slice(GET_START.length - 1, head.length - rest.length);
  if (!TARGET.test(target)) return null;
  const { authorization, userAgent, host, origin } = earlier;
  return { method: 'GET', target, authorization, userAgent, host, origin, bodyBytes: 0 };
}

/** Parses a head. `head` is the text before the empty line, in latin1. Null if Node's HTTP parser is needed. */
export function readPlainHead(head: string): PlainHead | null {
  const lines = head.split('\r\n');
  const request = REQUEST_LINE.exec(lines[0]!);
  if (request === null) return null;
  const found = new Map<string, string>();
  for (let i = 1; i < lines.length; i++) {
    const line = HEADER_LINE.exec(lines[i]!);
    if (line === null) return null;
    const name = line[1]!.toLowerCase();
    if (found.has(name) || SPECIAL.has(name)) return null;
    found.set(name, line[2]!);
  }
  if ((found.get('connection') ?? 'keep-alive').toLowerCase() !== 'keep-alive') return null;
  const method = request[1] as PlainHead['method'];
  const length = found.get('content-length');
  const authorization = found.get('authorization');
  if (method === 'GET' ? length !== undefined : authorization === undefined || !LENGTH.test(length ?? ''))
    return null;
  return {
    method,
    target: request[2]!,
    authorization: authorization ?? '',
    userAgent: found.get('user-agent'),
    host: found.get('host'),
    origin: found.get('origin'),
    bodyBytes: Number(length ?? 0),
  };
}
