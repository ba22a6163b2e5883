/**
 * Writes a reply to its socket. A small reply is sent in one write with a Content-Length. A large reply is sent in HTTP
 * chunks at the speed of the client. A client that stops reading is disconnected. If creating a reply fails after a part was
 * sent, the connection is closed, so that the client cannot mistake the part for a complete reply.
 */
import { nextRound } from '../scheduler/rounds.js';
import { yieldIfDue } from '../scheduler/yield.js';
import { HexFragment, type BodyPiece } from '../util/json/jsonWrite.js';
import type { HttpResponse } from './httpResponse.js';

/** Maximum size of a reply that is buffered until it is complete, and sent with its length. */
const BUFFERED_BYTES = 1 << 20;
const JSON_TYPE = 'application/json';

/** A reply to an HTTP request. */
export interface HttpReply {
  /** HTTP status. A reply with status 204 has no body. */
  readonly status: number;
  /** Content type of the body; JSON if absent. */
  readonly contentType?: string;
  /** Further response headers: alternating names and values. */
  readonly headers?: readonly string[];
  /** Exact length of the body, if it is known. */
  readonly lengthBytes?: number;
  /** The whole body, if it is already complete. */
  readonly text?: string | null;
  /** The whole body in pieces, if it is already complete and is not one text. */
  readonly pieces?: readonly BodyPiece[];
  /** The body in chunks. If the iteration throws after the first chunk, the connection must be destroyed, not ended. */
  readonly chunks: AsyncIterable<string | Uint8Array>;
}

export interface ReplyStreamOptions {
  /** Milliseconds without reading after which a client is disconnected. */
  readonly stallMs: number;
  /** Whether to close the connection after the reply. */
  readonly isLast: boolean;
  /** Start of the first time slice of this reply in milliseconds. The slice includes the work before sending. */
  readonly sinceMs: number;
  /** Runs `wait` while the call gives up its turn in the work queue, because the client reads slowly. */
  readonly whileSlow: (wait: () => Promise<void>) => Promise<void>;
  /** Gives the call slot to a waiting call for a short time. Returns null if no call waits. */
  readonly giveWay: () => Promise<void> | null;
}

/** Sends a complete body in one write. */
export function sendWhole(
  response: HttpResponse,
  status: number,
  contentType: string | undefined,
  body: string,
  isLast: boolean,
  more: readonly string[] = [],
): void {
  if (status === 204) {
    response.writeHead(204, isLast ? CLOSING : undefined);
    response.end();
    return;
  }
  const length = Buffer.byteLength(body);
  const headers = ['Content-Type', contentType ?? JSON_TYPE, 'Content-Length', String(length), ...more];
  if (isLast) headers.push('Connection', 'close');
  // A text of ASCII characters only is written as latin1, which needs no encoding.
  const encoding = length === body.length ? 'latin1' : 'utf8';
  if (response.sendWhole !== undefined) {
    response.sendWhole(status, headers, body, encoding);
    return;
  }
  response.writeHead(status, headers);
  response.write(body, encoding);
  // Sends head and body in one write. `uncork` must come before `end`, which otherwise adds an empty text to the list of
  // buffers.
  response.socket?.uncork();
  response.end();
}

/** Sends a complete body that is in pieces. */
export function sendPieces(
  response: HttpResponse,
  { status, contentType, headers: more = [] }: HttpReply,
  pieces: readonly BodyPiece[],
  isLast: boolean,
): void {
  const length = pieces.reduce((sum, piece) => sum + bytesOf(piece), 0);
  const headers = ['Content-Type', contentType ?? JSON_TYPE, 'Content-Length', String(length), ...more];
  if (isLast) headers.push('Connection', 'close');
  if (response.sendPieces !== undefined) {
    response.sendPieces(status, headers, pieces);
    return;
  }
  response.writeHead(status, headers);
  for (const piece of pieces) {
    if (piece.length > 0) response.write(piece instanceof HexFragment ? piece.toString() : piece);
  }
  response.end();
}

const bytesOf = (piece: BodyPiece): number =>
  piece instanceof HexFragment ? piece.length : Buffer.byteLength(piece);

const CLOSING = { Connection: 'close' };

function pairsOf(headers: readonly string[] = []): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (let n = 0; n < headers.length; n += 2) pairs[headers[n]!] = headers[n + 1]!;
  return pairs;
}

/** Sends a complete reply. Resolves when the socket has accepted the last byte. Rejects if the reply could not be sent. */
export async function sendReply(
  response: HttpResponse,
  reply: HttpReply,
  options: ReplyStreamOptions,
): Promise<void> {
  const { status, contentType = JSON_TYPE, lengthBytes } = reply;
  const closing = { ...(options.isLast ? CLOSING : {}), ...pairsOf(reply.headers) };
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  let streaming = false;
  let sliceStart = options.sinceMs;
  try {
    for await (const chunk of reply.chunks) {
      const pause = yieldIfDue(sliceStart);
      if (typeof pause !== 'number') {
        sliceStart = await pause;
        await options.giveWay();
      }
      if (response.destroyed) return;
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      if (streaming) {
        await write(response, bytes, options);
        continue;
      }
      held.push(bytes);
      heldBytes += bytes.length;
      if (heldBytes <= BUFFERED_BYTES) continue;
      streaming = true;
      response.writeHead(status, {
        'Content-Type': contentType,
        ...(lengthBytes === undefined ? {} : { 'Content-Length': lengthBytes }),
        ...closing,
      });
      for (const part of held.splice(0)) await write(response, part, options);
    }
  } catch (error) {
    response.destroy();
    throw error;
  }
  if (streaming || status === 204) {
    if (!streaming) response.writeHead(204, closing);
    response.end();
    return;
  }
  const body = Buffer.concat(held);
  response.writeHead(status, { 'Content-Type': contentType, 'Content-Length': body.length, ...closing });
  response.end(body);
}

async function write(response: HttpResponse, bytes: Uint8Array, options: ReplyStreamOptions): Promise<void> {
  if (response.write(bytes)) return;
  let isDrained = false;
  const drained = drainOf(response, options.stallMs).finally(() => (isDrained = true));
  // If the buffer of the operating system has space, the socket accepts most of the data within this event loop turn.
  await Promise.race([drained, nextRound()]);
  if (!isDrained) await options.whileSlow(() => drained);
}

/**
 * Resolves when the written data was sent. Rejects when the client disconnects. A client that reads nothing for `stallMs` is
 * disconnected.
 */
function drainOf(response: HttpResponse, stallMs: number): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const stalled = setTimeout(() => response.destroy(), stallMs);
    const settle = (act: () => void): void => {
      clearTimeout(stalled);
      response.off('drain', onDrain);
      response.off('close', onClose);
      act();
    };
    const onDrain = (): void => settle(resolve);
    const onClose = (): void => settle(() => reject(new Error('the client has disconnected')));
    response.once('drain', onDrain);
    response.once('close', onClose);
  });
}
