/**
 * Writing an answer to its socket: small ones with a Content-Length, large ones in HTTP chunks as fast as the client
 * reads. A client that stops reading is cut off; an answer that breaks off midway cuts the connection, so that nobody
 * takes half an answer for a whole one.
 */
import type { ServerResponse } from 'node:http';

/** Answers up to this size are held back until complete, to be sent with their length. */
const BUFFERED_BYTES = 1 << 20;
/** A client that needs longer than this to take what was written no longer holds its place in the work queue. */
const SLOW_CLIENT_MS = 250;

/** An answer on its way to a client. */
export interface HttpReply {
  /** 204 has no body. */
  readonly status: number;
  /** JSON when it is left out. */
  readonly contentType?: string;
  /** Where it is known: the exact length of the body. */
  readonly lengthBytes?: number;
  /** The body. Throws when it fails after its first chunk: the connection must then be cut, not ended. */
  readonly chunks: AsyncIterable<string | Uint8Array>;
}

export interface ReplyStreamOptions {
  /** A client that takes nothing for this long is cut off. */
  readonly stallMs: number;
  /** Called once when the client turns out to be slow. */
  readonly onSlow: () => void;
}

/** Sends a reply whole. Resolves when the last byte was handed to the socket; rejects when it could not be sent. */
export async function sendReply(
  response: ServerResponse,
  reply: HttpReply,
  options: ReplyStreamOptions,
): Promise<void> {
  const { status, contentType = 'application/json', lengthBytes } = reply;
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  let streaming = false;
  try {
    for await (const chunk of reply.chunks) {
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
      });
      for (const part of held.splice(0)) await write(response, part, options);
    }
  } catch (error) {
    response.destroy();
    throw error;
  }
  if (streaming) response.end();
  else sendWhole(response, status, contentType, Buffer.concat(held));
}

function sendWhole(response: ServerResponse, status: number, contentType: string, body: Buffer): void {
  if (status === 204) {
    response.writeHead(204).end();
    return;
  }
  response.writeHead(status, { 'Content-Type': contentType, 'Content-Length': body.length }).end(body);
}

async function write(
  response: ServerResponse,
  bytes: Uint8Array,
  options: ReplyStreamOptions,
): Promise<void> {
  if (response.write(bytes)) return;
  await new Promise<void>((resolve, reject) => {
    const slow = setTimeout(options.onSlow, SLOW_CLIENT_MS);
    const stalled = setTimeout(() => response.destroy(), options.stallMs);
    const settle = (act: () => void): void => {
      clearTimeout(slow);
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
