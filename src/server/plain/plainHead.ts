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
/** End of a line. */
const LINE_END = /\r?\n/;
const LINE_ENDS = /\r?\n/g;
const LONE_LINE_FEED = /[^\r]\n/;
const CONNECTION_LINE = /\nconnection:/i;
const EMPTY_LINE = '\r\n\r\n';
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

/**
 * Parses a head. `head` is the text before the empty line, in latin1. Null if Node's HTTP parser is needed. Lines of a POST
 * may end with a line feed alone: stratum servers of yiimp end their Host line so, and lbrycrd accepts it. Source: RFC 9112,
 * section 2.2; yiimp stratum/rpc.cpp `rpc_do_call`.
 */
export function readPlainHead(head: string): PlainHead | null {
  const lines = head.startsWith('POST') ? head.split(LINE_END) : head.split('\r\n');
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

/**
 * Changes the beginning of a request for Node's HTTP parser, which refuses a line feed alone as the end of a line. If the
 * head of a POST has such lines, the result has a head with complete line ends, and with `Connection: close`, because
 * Node's parser would refuse the next request of the connection. Other bytes are returned unchanged.
 */
export function withLineEnds(read: Buffer): Buffer {
  const end = read.indexOf(EMPTY_LINE, 0, 'latin1');
  if (end < 0 || end > MAX_PLAIN_HEAD_BYTES) return read;
  const head = read.toString('latin1', 0, end);
  if (!head.startsWith('POST ') || !LONE_LINE_FEED.test(head) || CONNECTION_LINE.test(head)) return read;
  const lines = head.replace(LINE_ENDS, '\r\n');
  if (lines.includes(EMPTY_LINE)) return read;
  return Buffer.concat([Buffer.from(`${lines}\r\nConnection: close`, 'latin1'), read.subarray(end)]);
}
