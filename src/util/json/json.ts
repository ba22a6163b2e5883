/**
 * Exact JSON values: the types of parsed values and of results, and the text forms of numbers and amounts. Contains no
 * parser (jsonParse.ts) and no serializer (jsonStream.ts). A parsed number is a plain `number` if `formatDouble` prints it
 * with the same text. Otherwise it is a `JsonNumber`, which keeps the text of the literal. `numberText` returns the literal
 * in both cases, so no number is rounded.
 */
import { assert } from '../assert.js';

/** A number literal that a double would change (`1.10`, `1e3`, `12345678901234567890`). It is serialized unchanged. */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A parsed object. Entries keep their original order and include duplicate keys, as in the reference's UniValue. */
export class JsonObject {
  readonly entries: readonly (readonly [string, JsonValue])[];
  constructor(entries: readonly (readonly [string, JsonValue])[] = []) {
    this.entries = entries;
  }

  /**
   * The first value with this key; undefined if the key is absent. Source: `find_value`, which does not distinguish absent
   * and null.
   */
  get(key: string): JsonValue | undefined {
    for (const [name, value] of this.entries) if (name === key) return value;
    return undefined;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  keys(): string[] {
    return this.entries.map(([name]) => name);
  }

  get size(): number {
    return this.entries.length;
  }
}

/** A value that `parseJson` returns. */
export type JsonValue = null | boolean | number | string | JsonNumber | JsonValue[] | JsonObject;

/** The JSON type of a parsed value, with the names that the reference uses (`uvTypeName`). */
export type JsonTypeName = 'null' | 'bool' | 'object' | 'array' | 'string' | 'number';

export function jsonTypeName(value: JsonValue): JsonTypeName {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'number' || value instanceof JsonNumber) return 'number';
  return Array.isArray(value) ? 'array' : 'object';
}

export function isJsonNumber(value: JsonValue): value is number | JsonNumber {
  return typeof value === 'number' || value instanceof JsonNumber;
}

/** The text of a number literal, exactly as received. */
export function numberText(value: number | JsonNumber): string {
  return typeof value === 'number' ? formatDouble(value) : value.text;
}

/**
 * Converts a parsed value to plain JavaScript objects and doubles. Of duplicate keys the last one is used. Numbers are
 * rounded, so do not use it for amounts.
 */
export function toPlain(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(toPlain);
  if (value instanceof JsonObject) {
    return Object.fromEntries(value.entries.map(([key, inner]) => [key, toPlain(inner)]));
  }
  return value;
}

/** A number that is serialized with exactly this text, which must be a valid JSON number. */
export function rawNumber(text: string): JsonNumber {
  return new JsonNumber(text);
}

const COIN = 100_000_000n;

/** Formats satoshis as coins with eight decimals (`-0.00000001`). Source: `ValueFromAmount`. */
export function formatCoins(satoshis: bigint): string {
  const negative = satoshis < 0n;
  const magnitude = negative ? -satoshis : satoshis;
  const fraction = (magnitude % COIN).toString().padStart(8, '0');
  return `${negative ? '-' : ''}${magnitude / COIN}.${fraction}`;
}

/** An amount for a result: a JSON number in coins with eight decimals. It is exact at any size. */
export function coins(satoshis: bigint): JsonNumber {
  return new JsonNumber(formatCoins(satoshis));
}

/** Maximum absolute value of a fixed-point number: 10^18 - 1, the reference's `UPPER_BOUND`. */
const FIXED_POINT_BOUND = 10n ** 18n - 1n;
const ZERO = 48;
const DOT = 46;
const MINUS = 45;
const PLUS = 43;
const isDigit = (code: number): boolean => code >= ZERO && code <= 57;
/** Zeros are skipped in blocks of this length, because a number may contain very many zeros. */
const ZEROS = '0'.repeat(1 << 13);
/** Maximum number of significant digits, without zeros at either end. A number with more digits would reach 10^18. */
const FIXED_POINT_DIGITS = 18;

/** Position after the zeros that begin at `at`. */
function skipZeros(text: string, at: number): number {
  while (text.slice(at, at + ZEROS.length) === ZEROS) at += ZEROS.length;
  while (text.charCodeAt(at) === ZERO) at++;
  return at;
}

/** Result of reading digits. `first` and `last`: positions of the first and last non-zero digit of the number so far. */
interface Digits {
  /** Position after the digits; −1 if there are too many digits, which are then not read completely. */
  end: number;
  /** Position of the first non-zero digit; −1 if all digits so far are zeros. */
  first: number;
  last: number;
}

/** Reads digits from position `from` on. `before`: the digits before the decimal point, which continue here. */
function readDigits(text: string, from: number, before: Digits | null): Digits {
  let { first, last } = before ?? { first: -1, last: -1 };
  for (let at = from; ; at++) {
    if (text.charCodeAt(at) === ZERO) at = skipZeros(text, at);
    if (!isDigit(text.charCodeAt(at))) return { end: at, first, last };
    if (first < 0) first = at;
    else if (at - first > FIXED_POINT_DIGITS) return { end: -1, first, last };
    last = at;
  }
}

/**
 * The value of the exponent, which begins at `at` after the mantissa. 0 without an exponent; null if it is malformed or too
 * large.
 */
function readExponent(text: string, at: number): number | null {
  if (at === text.length) return 0;
  const mark = text.charCodeAt(at);
  if (mark !== 101 && mark !== 69) return null;
  const sign = text.charCodeAt(at + 1);
  const hasSign = sign === PLUS || sign === MINUS;
  const first = at + (hasSign ? 2 : 1);
  const significant = skipZeros(text, first);
  if (first === text.length || text.length - significant > FIXED_POINT_DIGITS) return null;
  const digits = text.slice(significant);
  if (!/^[0-9]*$/.test(digits)) return null;
  const magnitude = Number(digits);
  return sign === MINUS ? -magnitude : magnitude;
}

/**
 * Parses a decimal literal as an integer multiple of 10^-decimals. Null if the text is not a number, has more decimals, or
 * reaches 10^18. Takes linear time. Source: `ParseFixedPoint`.
 */
export function parseFixedPoint(text: string, decimals: number): bigint | null {
  const negative = text.charCodeAt(0) === MINUS;
  const start = negative ? 1 : 0;
  let digits = readDigits(text, start, null);
  const point = digits.end;
  if (point <= start || (text.charCodeAt(start) === ZERO && point > start + 1)) return null;
  if (text.charCodeAt(point) === DOT) digits = readDigits(text, point + 1, digits);
  const { end, first, last: lastDigit } = digits;
  if (end === point + 1) return null;
  const exponent = end < 0 ? null : readExponent(text, end);
  if (exponent === null) return null;
  // The mantissa without its leading and trailing zeros and without the decimal point.
  const [from, to] = first < 0 ? [end, end] : [first, lastDigit + 1];
  const mantissa = text.slice(from, to).replace('.', '');
  if (mantissa.length > FIXED_POINT_DIGITS) return null;
  // If the number is zero, its zeros count as digits too, except those of the integer part. So 0e17 is rejected, like
  // 1e17.
  const last = mantissa === '' ? start + 1 : to;
  const zeros = last <= point ? point - last : point + 1 - last;
  const power = exponent + zeros + decimals;
  if (power < 0 || power >= 18) return null;
  const value = BigInt(mantissa === '' ? '0' : mantissa) * 10n ** BigInt(power);
  if (value > FIXED_POINT_BOUND) return null;
  return negative ? -value : value;
}

/** Formats a finite double like the reference: C's `%.16g`. Source: `UniValue::setFloat`. */
export function formatDouble(value: number): string {
  assert(Number.isFinite(value), 'a JSON number must be finite');
  if (Number.isSafeInteger(value)) return Object.is(value, -0) ? '-0' : String(value);
  const [digits = '', exponentText = '0'] = value.toExponential(15).split('e');
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    const sign = exponent < 0 ? '-' : '+';
    const magnitude = String(Math.abs(exponent)).padStart(2, '0');
    return `${trimFraction(digits)}e${sign}${magnitude}`;
  }
  return trimFraction(value.toFixed(Math.min(100, 15 - exponent)));
}

function trimFraction(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
