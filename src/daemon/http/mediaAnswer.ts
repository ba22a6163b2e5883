/**
 * Response with a stream or ranges of it: status, headers, and the bytes at the pace of the reader. Source: RFC 9110,
 * sections 13 (conditions), 14 and 15.3.7 (ranges). lbry-sdk responds with 206 to every request and supports one range only.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { nextRound } from '../../scheduler/rounds.js';
import { readRanges, type ByteRange } from './byteRanges.js';
import type { MediaStream } from './mediaPort.js';
import { TEXT_TYPE } from './plainServer.js';

/** One range of a `multipart/byteranges` response. `head` contains the bytes that precede the range. */
interface Part extends ByteRange {
  readonly head: string;
}

interface AnswerPlan {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly parts: readonly Part[];
  readonly tail: string;
}

/** Whether a header contains the entity tag of the stream. Weak tags match only in a weak comparison. */
function names(header: string, tag: string, isWeak: boolean): boolean {
  const tags = header.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return header.trim() === '*' || tags.some((one) => (isWeak ? one.replace(/^W\//, '') : one) === tag);
}

/** Status 412 or 304 if a condition in the request's headers fails, else null. Source: RFC 9110, section 13.2.2. */
function failedCondition(headers: IncomingHttpHeaders, tag: string): 412 | 304 | null {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (match !== undefined && !names(match, tag, false)) return 412;
  return noneMatch !== undefined && names(noneMatch, tag, true) ? 304 : null;
}

/** Byte ranges to send; null for the whole stream. Source: RFC 9110, section 13.1.5 for `If-Range`. */
function rangesOf({ method, headers }: IncomingMessage, tag: string, sizeBytes: number) {
  const { range } = headers;
  // Node joins repeated `If-Range` headers into one text, so the value is not an array.
  const condition = headers['if-range'] as string | undefined;
  if (method !== 'GET' || range === undefined) return null;
  if (condition !== undefined && condition.trim() !== tag) return null;
  return readRanges(range, sizeBytes);
}

const contentRange = ({ from, to }: ByteRange, sizeBytes: number): string =>
  `bytes ${from}-${to - 1}/${sizeBytes}`;

function multipart(ranges: readonly ByteRange[], sizeBytes: number, mimeType: string): AnswerPlan {
  const boundary = randomBytes(18).toString('hex');
  const parts = ranges.map((range, at) => ({
    ...range,
    head:
      `${at === 0 ? '' : '\r\n'}--${boundary}\r\nContent-Type: ${mimeType}\r\n` +
      `Content-Range: ${contentRange(range, sizeBytes)}\r\n\r\n`,
  }));
  const tail = `\r\n--${boundary}--\r\n`;
  const length = parts.reduce((sum, { head, from, to }) => sum + head.length + to - from, tail.length);
  return {
    status: 206,
    headers: { 'Content-Type': `multipart/byteranges; boundary=${boundary}`, 'Content-Length': length },
    parts,
    tail,
  };
}

const plainText = (status: number, text: string, headers: OutgoingHttpHeaders = {}): AnswerPlan => ({
  status,
  headers: { 'Content-Type': TEXT_TYPE, 'Content-Length': text.length, ...headers },
  parts: [],
  tail: text,
});

function planOf(request: IncomingMessage, stream: MediaStream, tag: string): AnswerPlan {
  const { sizeBytes, mimeType } = stream;
  const condition = failedCondition(request.headers, tag);
  if (condition === 412) return plainText(412, '412: Precondition Failed');
  if (condition === 304) return { status: 304, headers: {}, parts: [], tail: '' };
  if (sizeBytes === null) return { status: 200, headers: { 'Content-Type': mimeType }, parts: [], tail: '' };
  const ranges = rangesOf(request, tag, sizeBytes);
  if (ranges === null) {
    const headers = { 'Content-Type': mimeType, 'Content-Length': sizeBytes };
    return { status: 200, headers, parts: [{ from: 0, to: sizeBytes, head: '' }], tail: '' };
  }
  if (ranges.length === 0)
    return plainText(416, '416: Range Not Satisfiable', { 'Content-Range': `bytes */${sizeBytes}` });
  if (ranges.length > 1) return multipart(ranges, sizeBytes, mimeType);
  const [range] = ranges;
  const headers = {
    'Content-Type': mimeType,
    'Content-Length': range!.to - range!.from,
    'Content-Range': contentRange(range!, sizeBytes),
  };
  return { status: 206, headers, parts: [{ ...range!, head: '' }], tail: '' };
}

async function* bytesOf(
  { parts, tail }: AnswerPlan,
  stream: MediaStream,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for (const { from, to, head } of parts) {
    if (head !== '') yield Buffer.from(head, 'latin1');
    let sent = 0;
    if (to > from)
      for await (const piece of stream.read(from, to, signal)) {
        sent += piece.length;
        yield piece;
      }
    // A response that was cut short must not look complete to the client.
    if (sent !== to - from) throw new Error(`${sent} instead of ${to - from} bytes were read`);
  }
  if (tail !== '') yield Buffer.from(tail, 'latin1');
}

/** Resolves when the response can accept more data or the signal aborts. The signal must abort when the response is closed. */
function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      response.off('drain', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    response.on('drain', end);
    signal.addEventListener('abort', end);
  });
}

/**
 * Responds with a stream. The head is sent together with the first bytes. An error before the first bytes is thrown before
 * anything is sent, so that the caller can still send an error status. If a later error is thrown, the caller must close the
 * connection.
 */
export async function sendStream(
  request: IncomingMessage,
  response: ServerResponse,
  { sdHash, stream, signal }: { sdHash: string; stream: MediaStream; signal: AbortSignal },
): Promise<void> {
  const tag = `"${sdHash}"`;
  const plan = planOf(request, stream, tag);
  const headers = { 'Accept-Ranges': 'bytes', ETag: tag, ...plan.headers };
  if (request.method === 'HEAD') {
    response.writeHead(plan.status, headers).end();
    return;
  }
  for await (const piece of bytesOf(plan, stream, signal)) {
    signal.throwIfAborted();
    const isFirst = !response.headersSent;
    if (isFirst) response.writeHead(plan.status, headers);
    const isFull = !response.write(piece);
    if (isFull) await drained(response, signal);
    // The system may accept many pieces at once. The pause lets other requests, and a player that disconnects, be handled between
    // them. Node.js sends the first bytes only when this code pauses. So it pauses before the next piece is read and decrypted.
    if (isFull || isFirst) await nextRound();
    signal.throwIfAborted();
  }
  if (!response.headersSent) response.writeHead(plan.status, headers);
  response.end();
}
