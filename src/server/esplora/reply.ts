/** Responses of the Esplora-compatible interface: JSON, one line of text, or bytes. */
import { jsonChunks } from '../../util/json/jsonStream.js';
import { smallJson, type JsonOut } from '../../util/json/jsonWrite.js';
import type { HttpReply } from '../replyStream.js';

/** Number of bytes that are written in one step. */
const SLICE_BYTES = 65_536;

/** Body chunks of a reply whose `text` is already complete: an empty sequence. */
const NO_CHUNKS: AsyncIterable<string> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};

export function textReply(text: string, status = 200): HttpReply {
  return { status, contentType: 'text/plain', text, chunks: NO_CHUNKS };
}

/**
 * Copies a reply with these headers. Replies with a complete text, which are the small ones, are built by a literal, which
 * takes less time than copying all properties.
 */
export function withHeaders(reply: HttpReply, headers: readonly string[]): HttpReply {
  const { status, contentType = 'application/json', text, chunks } = reply;
  if (typeof text !== 'string') return { ...reply, headers };
  return { status, contentType, headers, text, chunks };
}

export function jsonReply(value: JsonOut): HttpReply {
  const text = smallJson(value);
  if (text !== null) return { status: 200, text, chunks: NO_CHUNKS };
  return { status: 200, chunks: jsonChunks(value) };
}

/** A reply with JSON that is already serialized. The text may be long. */
export function jsonTextReply(text: string): HttpReply {
  return { status: 200, text, chunks: NO_CHUNKS };
}

/** A reply with a page of results: a JSON array of a few, mostly small objects. */
export function pageReply(items: readonly JsonOut[]): HttpReply {
  const texts: string[] = [];
  for (const item of items) {
    const text = smallJson(item);
    if (text === null) return jsonReply([...items]);
    texts.push(text);
  }
  return jsonTextReply(`[${texts.join()}]`);
}

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES);
}

async function* bytesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield* slices(bytes);
}

async function* hexOf(bytes: Buffer): AsyncGenerator<string> {
  for (const slice of slices(bytes)) yield slice.toString('hex');
}

/** A reply with bytes. The caller must not change the bytes while they are sent. */
export function bytesReply(bytes: Buffer): HttpReply {
  return {
    status: 200,
    contentType: 'application/octet-stream',
    lengthBytes: bytes.length,
    chunks: bytesOf(bytes),
  };
}

/** A reply with `bytes` as hex digits. */
export function hexReply(bytes: Buffer): HttpReply {
  if (bytes.length <= SLICE_BYTES) return textReply(bytes.toString('hex'));
  return { status: 200, contentType: 'text/plain', lengthBytes: bytes.length * 2, chunks: hexOf(bytes) };
}
