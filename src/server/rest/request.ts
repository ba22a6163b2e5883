/**
 * Parsing of REST paths: the format after the last dot, hashes, numbers, and the errors. Paths are latin1 strings of the
 * received bytes, without decoding. Source: lbrycrd rest.cpp, utilstrencodings.cpp.
 */
import { hashFromHex, isHex } from '../../util/bytes.js';
import { AT_ONCE_SIZE, type Slices } from '../../util/slices.js';

export const REST_FORMATS = ['bin', 'hex', 'json'] as const;
export type RestFormat = (typeof REST_FORMATS)[number];

/** An error response to a REST request: its HTTP status and its line of text. */
export class RestError extends Error {
  override readonly name = 'RestError';
  readonly status: 400 | 404 | 503;

  constructor(status: 400 | 404 | 503, message: string) {
    super(message);
    this.status = status;
  }
}

export const badRequest = (message: string): RestError => new RestError(400, message);
export const notFound = (message: string): RestError => new RestError(404, message);

/** The error for a path without a format, or with a format that the resource does not support. */
export const noSuchFormat = (available = REST_FORMATS.map((format) => `.${format}`).join(', ')): RestError =>
  notFound(`output format not found (available: ${available})`);

/**
 * Splits the format off a path. An unknown format stays in the path, and the returned format is null. A format followed by a
 * query is unknown. A final dot is removed. Source: `ParseDataFormat`.
 */
export function splitFormat(path: string): { param: string; format: RestFormat | null } {
  const dot = path.lastIndexOf('.');
  if (dot < 0) return { param: path, format: null };
  const [param, suffix] = [path.slice(0, dot), path.slice(dot + 1)];
  if (suffix === '') return { param, format: null };
  const format = REST_FORMATS.find((known) => known === suffix);
  return format === undefined ? { param: path, format: null } : { param, format };
}

/** Parses exactly 64 hex digits into a hash in wire order; null for other texts. Source: `ParseHashStr`. */
export function parseHash(text: string): Buffer | null {
  return text.length === 64 && isHex(text) ? hashFromHex(text) : null;
}

/** The integer at the start of a text, after white space; 0 if the text has no such integer. Source: `strtol`. */
export function leadingInteger(text: string): number {
  const digits = /^[ \f\n\r\t\v]*([+-]?[0-9]+)/.exec(text)?.[1];
  return digits === undefined ? 0 : Number(digits) + 0;
}

/** Parses a text that consists of one 32-bit integer; null for other texts. Source: `ParseInt32`. */
export function parseInt32(text: string): number | null {
  if (!/^[+-]?[0-9]+$/.test(text)) return null;
  const number = Number(text);
  return number >= -0x80000000 && number <= 0x7fffffff ? number : null;
}

const DIGIT_VALUES: readonly number[] = Array.from({ length: 256 }, (_, byte) => {
  const value = parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(value) ? -1 : value;
});
const isSpace = (byte: number | undefined): boolean => byte === 0x20 || (byte! >= 0x09 && byte! <= 0x0d);

/** Decodes pairs of hex digits, optionally separated by white space. Stops at the first other character. Source: `ParseHex`. */
export function* decodeLeadingHex(text: Uint8Array): Slices<Buffer> {
  const bytes = Buffer.allocUnsafe(text.length >> 1);
  let length = 0;
  let pause = AT_ONCE_SIZE;
  for (let at = 0; ; at += 2) {
    if (at >= pause) {
      pause = at + AT_ONCE_SIZE;
      yield;
    }
    while (isSpace(text[at])) if (++at % AT_ONCE_SIZE === 0) yield;
    const high = DIGIT_VALUES[text[at] ?? 0]!;
    const low = DIGIT_VALUES[text[at + 1] ?? 0]!;
    if (high < 0 || low < 0) return bytes.subarray(0, length);
    bytes[length++] = high * 16 + low;
  }
}
