/**
 * Reads the head of a usual request on a connection that stays open: a JSON-RPC call, which is a POST of HTTP/1.1 with a
 * Content-Length and a password, or a GET without a body. Every other head is null, also an invalid one: Node's HTTP parser then handles the connection. So this code accepts less than
 * HTTP allows, and never more. Source: RFC 9112, sections 3, 5 and 6.
 */

/** Maximum length of a head in bytes. Arbitrary: heads of real clients have some 200. */
export const MAX_PLAIN_HEAD_BYTES = 2048;

/** The part of a head that matters to a call. */
export interface PlainHead {
  readonly method: 'GET' | 'POST';
  readonly target: string;
  /** Value of the header of that name, like the next ones; empty if a GET has none. */
  readonly authorization: string;
  readonly userAgent: string | undefined;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** The Content-Length; 0 for a GET. */
  readonly bodyBytes: number;
}

const REQUEST_LINE = /^(GET|POST) (\/[\x21-\x7e]*) HTTP\/1\.1$/;
/** Optional white space is at most one space, which all clients write. */
const HEADER_LINE = /^([A-Za-z0-9-]+): ?([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/;
const LENGTH = /^\d{1,9}$/;
/** Headers that change how a message is read or answered. */
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
 * Reads the head of a GET whose other lines are those of the GET `earlier`; null if the first line has another form. `line`
 * is the request line, in latin1.
 */
export function readSameGet(line: string, earlier: PlainHead): PlainHead | null {
  const request = REQUEST_LINE.exec(line);
  return request?.[1] === 'GET' ? { ...earlier, target: request[2]! } : null;
}

/** `head` is the text before the empty line, in latin1. */
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
