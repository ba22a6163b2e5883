/**
 * Writing an answer to its socket: small ones in one piece with a Content-Length, large ones in HTTP chunks as fast as the
 * client reads. A client that stops reading is cut off; an answer that breaks off midway cuts the connection, so that
 * no one takes half an answer for a whole one.
 */
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { yieldIfDue } from '../scheduler/yield.js';

/** Answers up to this size are held back until complete, to be sent with their length. */
const BUFFERED_BYTES = 1 << 20;
const JSON_TYPE = 'application/json';

/** An answer on its way to a client. */
export interface HttpReply {
  /** 204 has no body. */
  readonly status: number;
  /** JSON when it is left out. */
  readonly contentType?: string;
  /** Further headers: names and values in turn. */
  readonly headers?: readonly string[];
  /** Where it is known: the exact length of the body. */
  readonly lengthBytes?: number;
  /** The whole body where it is complete already. */
  readonly text?: string | null;
  /** The body. Throws when it fails after its first chunk: the connection must then be cut, not ended. */
  readonly chunks: AsyncIterable<string | Uint8Array>;
}

export interface ReplyStreamOptions {
  /** A client that takes nothing for this long is cut off. */
  readonly stallMs: number;
  /** Whether the connection ends with the answer. */
  readonly isLast: boolean;
  /** When the first slice of this answer began, in which its beginning was made. */
  readonly sinceMs: number;
  /** Runs a wait for a client that does not take at once what is written. */
  readonly whileSlow: (wait: () => Promise<void>) => Promise<void>;
  /** Lets others have the turn for a while; null if none wait. */
  readonly giveWay: () => Promise<void> | null;
}

/** Sends a body that is whole, in one write. */
export function sendWhole(
  response: ServerResponse,
  status: number,
  contentType: string | undefined,
  body: string,
  isLast: boolean,
  more: readonly string[] = [],
): void {
  if (status === 204) {
    response.writeHead(204, isLast ? CLOSING : undefined).end();
    return;
  }
  const length = Buffer.byteLength(body);
  const headers = ['Content-Type', contentType ?? JSON_TYPE, 'Content-Length', String(length), ...more];
  if (isLast) headers.push('Connection', 'close');
  response.writeHead(status, headers);
  // Text that is ASCII is handed over without being encoded.
  response.write(body, length === body.length ? 'latin1' : 'utf8');
  // Head and body leave together now. With `end` Node would add an empty text to them, and the system would get a list of two.
  response.socket?.uncork();
  response.end();
}

const CLOSING = { Connection: 'close' };

function pairsOf(headers: readonly string[] = []): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (let n = 0; n < headers.length; n += 2) pairs[headers[n]!] = headers[n + 1]!;
  return pairs;
}

/** Sends a reply whole. Resolves when the last byte was handed to the socket; rejects when it could not be sent. */
export async function sendReply(
  response: ServerResponse,
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
  response
    .writeHead(status, { 'Content-Type': contentType, 'Content-Length': body.length, ...closing })
    .end(body);
}

async function write(
  response: ServerResponse,
  bytes: Uint8Array,
  options: ReplyStreamOptions,
): Promise<void> {
  if (response.write(bytes)) return;
  let isDrained = false;
  const drained = drainOf(response, options.stallMs).finally(() => (isDrained = true));
  // The system takes most of it in this turn of the loop, if there is room.
  await Promise.race([drained, setImmediate()]);
  if (!isDrained) await options.whileSlow(() => drained);
}

/** Resolves when what was written has left; rejects when the client has, which is cut off when it takes nothing. */
function drainOf(response: ServerResponse, stallMs: number): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const stalled = setTimeout(() => response.destroy(), stallMs);
    const settle = (act: () => void): void => {
      clearTimeout(stalled);
      response.off('drain', onDrain);
      response.off('close', onClose);
      act();
    };
    const onDrain = (): void => settle(resolve);
    const onClose = (): void => settle(() => reject(new Error('the client has gone')));
    response.once('drain', onDrain);
    response.once('close', onClose);
  });
}
