/**
 * The tokens of JSON that may be long, for `jsonParse.ts`: white space, strings and numbers. The functions have no state.
 * The variants for long tokens yield regularly.
 */
import { formatDouble, JsonNumber } from './json.js';
import { AT_ONCE_SIZE, type Slices } from '../slices.js';

/** Thrown if the text is not valid JSON, or contains too many values. */
export class JsonParseError extends Error {
  override readonly name = 'JsonParseError';
}

export function failParse(): never {
  throw new JsonParseError('Parse error');
}

// Pattern of a raw string token. The reference's parser rejects the bytes 0x00 to 0x1f in a string, and accepts all other
// bytes up to the quote.

/**
 * `PLAIN`: the part of a string that needs no decoding. `SPACE`: white space. The following two patterns match the same, up
 * to the length that is processed without a yield.
 */
export const PLAIN = /[^"\\\u0000-\u001f]*/y;
export const SPACE = /[ \t\n\r]*/y;
export const PLAIN_SLICE = new RegExp(`[^"\\\\\\u0000-\\u001f]{0,${AT_ONCE_SIZE}}`, 'y');
export const SPACE_SLICE = new RegExp(`[ \\t\\n\\r]{0,${AT_ONCE_SIZE}}`, 'y');
export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const MINUS = 0x2d;
export const PLUS = 0x2b;
export const DOT = 0x2e;
export const ZERO = 0x30;
export const NINE = 0x39;
export const SMALL_E = 0x65;
export const CAPITAL_E = 0x45;
const SMALL_U = 0x75;
/** Maximum number of digits of an integer that a double represents exactly. */
const EXACT_DIGITS = 15;
/**
 * Maximum length of a number that `formatDouble` prints: sign, 16 digits, point, and an exponent of three digits with its
 * sign.
 */
const LONGEST_DOUBLE = 23;

/** Thrown when a long token begins at `offset`. The token is then read in slices. */
export class LongToken {
  readonly offset: number;
  readonly kind: 'string' | 'number' | 'space';
  constructor(offset: number, kind: LongToken['kind']) {
    this.offset = offset;
    this.kind = kind;
  }
}

/** A token that was read in slices: its value and its end position. */
export interface ReadToken {
  readonly value: string | number | JsonNumber;
  readonly end: number;
}

/** Position after the match of a pattern at position `at`. */
export function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.test(text);
  return pattern.lastIndex;
}

/** Rejects malformed numbers such as "01", "1.", "1e" and "2x": a letter, digit or point must not follow a number. */
export function checkNumberEnd(text: string, at: number): void {
  const next = text.charCodeAt(at);
  if ((next >= ZERO && next <= NINE) || next === DOT || next === SMALL_E || next === CAPITAL_E) failParse();
}

/**
 * Position of the quote that ends a string. If `limit` is reached before, the first position after `limit` that is not
 * within an escape.
 */
export function escapedEnd(text: string, from: number, limit: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code !== QUOTE && at < limit; code = text.charCodeAt(++at)) {
    // The digits of an escape are checked when it is decoded. A quote among these digits makes the escape invalid.
    if (code === BACKSLASH && text.charCodeAt(++at) === SMALL_U) at += 4;
    if (at >= text.length) failParse();
  }
  return at;
}

/** Reads a whole long token in slices. `settle` converts a decoded string that had escapes. */
export function longToken(
  text: string,
  { offset, kind }: LongToken,
  settle: (decoded: string) => string,
): Slices<ReadToken> {
  if (kind === 'string') return longString(text, offset, settle);
  return kind === 'number' ? longNumber(text, offset) : longSpace(text, offset);
}

function* longSpace(text: string, start: number): Slices<ReadToken> {
  for (let at = start; ; yield) {
    const end = endOf(SPACE_SLICE, text, at);
    if (end - at < AT_ONCE_SIZE) return { value: '', end };
    at = end;
  }
}

/** Reads a long string. `start` is the position after the opening quote. */
function* longString(text: string, start: number, settle: (decoded: string) => string): Slices<ReadToken> {
  let at = start;
  for (; ; yield) {
    const end = endOf(PLAIN_SLICE, text, at);
    const code = text.charCodeAt(end);
    if (code === QUOTE) return { value: text.slice(start, end), end: end + 1 };
    if (code === BACKSLASH) break;
    if (end - at < AT_ONCE_SIZE) failParse();
    at = end;
  }
  let whole = text.slice(start, at);
  for (; ; yield) {
    const end = escapedEnd(text, at, at + AT_ONCE_SIZE);
    whole += decodeLiteral(text.slice(at, end)) ?? failParse();
    if (text.charCodeAt(end) === QUOTE) return { value: settle(whole), end: end + 1 };
    at = end;
  }
}

function* longNumber(text: string, start: number): Slices<ReadToken> {
  let at = start;
  if (text.charCodeAt(at) === MINUS) at++;
  at = text.charCodeAt(at) === ZERO ? at + 1 : yield* longDigits(text, at);
  let isInteger = true;
  if (text.charCodeAt(at) === DOT) {
    isInteger = false;
    at = yield* longDigits(text, at + 1);
  }
  const mark = text.charCodeAt(at);
  if (mark === SMALL_E || mark === CAPITAL_E) {
    isInteger = false;
    const sign = text.charCodeAt(++at);
    at = yield* longDigits(text, sign === PLUS || sign === MINUS ? at + 1 : at);
  }
  checkNumberEnd(text, at);
  return { value: numberValue(text.slice(start, at), isInteger), end: at };
}

function* longDigits(text: string, first: number): Slices<number> {
  let at = first;
  for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(++at)) {
    if ((at - first) % AT_ONCE_SIZE === AT_ONCE_SIZE - 1) yield;
  }
  return at > first ? at : failParse();
}

/** Returns a plain number if `formatDouble` prints the same text, otherwise the literal as `JsonNumber`. */
export function numberValue(literal: string, isInteger: boolean): number | JsonNumber {
  if (literal.length > LONGEST_DOUBLE) return new JsonNumber(literal);
  const value = Number(literal);
  if (isInteger && literal.length <= EXACT_DIGITS) return value;
  return Number.isFinite(value) && formatDouble(value) === literal ? value : new JsonNumber(literal);
}

/** Decodes the text between the quotes of a string; null if it contains an invalid escape or an invalid character. */
export function decodeLiteral(literal: string): string | null {
  try {
    return JSON.parse(`"${literal}"`) as string;
  } catch {
    return null;
  }
}

// Methods that exist in Node.js since version 20, but not in the compiler's types, which are for an older language
// version.
type WellFormedText = string & { isWellFormed(): boolean; toWellFormed(): string };

/**
 * Returns the text. Rejects a text with a lone half of a surrogate pair, as the reference does
 * (`JSONUTF8StringFilter::finalize`).
 */
export function requireWellFormed(text: string): string {
  return (text as WellFormedText).isWellFormed() ? text : failParse();
}

/** Replaces each unpaired surrogate with U+FFFD. */
export function makeWellFormed(text: string): string {
  return (text as WellFormedText).toWellFormed();
}
