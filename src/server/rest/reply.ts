/**
 * REST responses in their three formats: bytes, a line of hex, or a line of JSON. Large responses are created as fast as the
 * client reads them.
 */
import { jsonChunks } from '../../util/json/jsonStream.js';
import { type JsonOut } from '../../util/json/jsonWrite.js';
import type { HttpReply } from '../replyStream.js';
import { noSuchFormat, type RestError, type RestFormat } from './request.js';

/** Number of bytes that are written in one step. */
const SLICE_BYTES = 65_536;

/** Functions that create a resource's response in each format. Only the function of the requested format is called. */
export type RestAnswers = Readonly<Record<RestFormat, () => HttpReply | Promise<HttpReply>>>;

/** Creates the response in the requested format. */
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

/** A reply with bytes. The caller must not change the bytes while they are sent. */
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

/** An error response. Its text repeats the path unchanged, as latin1. Source: `RESTERR`. */
export function errorReply({ status, message }: Pick<RestError, 'message'> & { status: number }): HttpReply {
  const bytes = Buffer.from(`${message}\r\n`, 'latin1');
  return { status, contentType: 'text/plain', lengthBytes: bytes.length, chunks: bytesOf(bytes) };
}
