/**
 * The answers of REST in their three formats, written as the client reads them: bytes as they are, as one line of hex, or
 * as one line of JSON.
 */
import { jsonChunks, type JsonOut } from '../../util/json/jsonWrite.js';
import type { HttpReply } from '../replyStream.js';
import { noSuchFormat, type RestError, type RestFormat } from './request.js';

/** Bytes handed over at a time. */
const SLICE_BYTES = 65_536;

/** How a resource answers in each of its formats; only the one that was asked for is made. */
export type RestAnswers = Readonly<Record<RestFormat, () => HttpReply | Promise<HttpReply>>>;

/** The answer in the format asked for. */
export function answerAs(format: RestFormat | null, answers: RestAnswers): HttpReply | Promise<HttpReply> {
  if (format === null) throw noSuchFormat();
  return answers[format]();
}

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES);
}

async function* bytesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield* slices(bytes);
}

async function* hexLineOf(bytes: Buffer): AsyncGenerator<string> {
  for (const slice of slices(bytes)) yield slice.toString('hex');
  yield '\n';
}

async function* jsonLineOf(value: JsonOut): AsyncGenerator<string> {
  yield* jsonChunks(value);
  yield '\n';
}

/** The bytes must not change while they are sent. */
export function binaryReply(bytes: Buffer): HttpReply {
  return {
    status: 200,
    contentType: 'application/octet-stream',
    lengthBytes: bytes.length,
    chunks: bytesOf(bytes),
  };
}

export function hexReply(bytes: Buffer): HttpReply {
  return {
    status: 200,
    contentType: 'text/plain',
    lengthBytes: bytes.length * 2 + 1,
    chunks: hexLineOf(bytes),
  };
}

export function jsonReply(value: JsonOut): HttpReply {
  return { status: 200, contentType: 'application/json', chunks: jsonLineOf(value) };
}

/** What the path named comes back as it came, a byte a character. Source: `RESTERR`. */
export function errorReply({ status, message }: Pick<RestError, 'message'> & { status: number }): HttpReply {
  const bytes = Buffer.from(`${message}\r\n`, 'latin1');
  return { status, contentType: 'text/plain', lengthBytes: bytes.length, chunks: bytesOf(bytes) };
}
