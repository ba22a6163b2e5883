/**
 * Reads the head of a usual JSON-RPC request: a POST of HTTP/1.1 with a Content-Length on a connection that stays open. Every
 * other head is null, also an invalid one: Node's HTTP parser then handles the connection. So this code accepts less than
 * HTTP allows, and never more. Source: RFC 9112, sections 3, 5 and 6.
 */

/** Maximum length of a head in bytes. Arbitrary: heads of real clients have some 200. */
export const MAX_PLAIN_HEAD_BYTES = 2048;

/** The part of a head that matters to a call. */
export interface PlainHead {
  readonly target: string;
  /** Value of the header of that name, like the next one. */
  readonly authorization: string;
  readonly userAgent: string | undefined;
  /** The Content-Length. */
  readonly bodyBytes: number;
}

const REQUEST_LINE = /^POST (\/[\x21-\x7e]*) HTTP\/1\.1$/;
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

/** `head` is the text before the empty line, in latin1. */
export function readPlainHead(head: string): PlainHead | null {
  const lines = head.split('\r\n');
  const target = REQUEST_LINE.exec(lines[0]!)?.[1];
  if (target === undefined) return null;
  const found = new Map<string, string>();
  for (let i = 1; i < lines.length; i++) {
    const line = HEADER_LINE.exec(lines[i]!);
    if (line === null) return null;
    const name = line[1]!.toLowerCase();
    if (found.has(name) || SPECIAL.has(name)) return null;
    found.set(name, line[2]!);
  }
  const authorization = found.get('authorization');
  const length = found.get('content-length');
  if (authorization === undefined || length === undefined || !LENGTH.test(length)) return null;
  if ((found.get('connection') ?? 'keep-alive').toLowerCase() !== 'keep-alive') return null;
  return { target, authorization, userAgent: found.get('user-agent'), bodyBytes: Number(length) };
}
