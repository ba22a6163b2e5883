/**
 * Exact JSON values: the types that parsing yields and that answers are made of, and the text forms of
 * numbers and amounts. Owns no parser (jsonParse.ts) and no serializer (jsonWrite.ts).
 *
 * A parsed number is a plain `number` when its text is the one `formatDouble` prints for it, else a `JsonNumber`
 * that keeps the literal's text; `numberText` gives the literal back in both cases, so nothing is ever rounded.
 */
import { assert } from './assert.js';

/** A number literal that a double would not give back (`1.10`, `1e3`, `12345678901234567890`). Written as it is. */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A parsed object: entries in order of arrival, duplicate keys kept (the reference's UniValue keeps them too). */
export class JsonObject {
  readonly entries: readonly (readonly [string, JsonValue])[];
  constructor(entries: readonly (readonly [string, JsonValue])[] = []) {
    this.entries = entries;
  }

  /** The first value under `key`, or undefined. Source: `find_value`, but absent and null stay apart. */
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

/** What `parseJson` yields. */
export type JsonValue = null | boolean | number | string | JsonNumber | JsonValue[] | JsonObject;

/** The JSON type of a parsed value, by the reference's names (`uvTypeName`). */
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

/** The literal's text, exactly as it was received. */
export function numberText(value: number | JsonNumber): string {
  return typeof value === 'number' ? formatDouble(value) : value.text;
}

/** A parsed value as plain JavaScript: objects become objects (last duplicate wins), numbers doubles. Rounds; not for amounts. */
export function toPlain(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(toPlain);
  if (value instanceof JsonObject) {
    return Object.fromEntries(value.entries.map(([key, inner]) => [key, toPlain(inner)]));
  }
  return value;
}

/** A number written with exactly this text, which must be a JSON number. */
export function rawNumber(text: string): JsonNumber {
  return new JsonNumber(text);
}

const COIN = 100_000_000n;

/** Satoshis as coins with eight decimals (`-0.00000001`). Source: `ValueFromAmount`. */
export function formatCoins(satoshis: bigint): string {
  const negative = satoshis < 0n;
  const magnitude = negative ? -satoshis : satoshis;
  const fraction = (magnitude % COIN).toString().padStart(8, '0');
  return `${negative ? '-' : ''}${magnitude / COIN}.${fraction}`;
}

/** An amount in an answer: a JSON number in coins with eight decimals, exact at any size. */
export function coins(satoshis: bigint): JsonNumber {
  return new JsonNumber(formatCoins(satoshis));
}

const FIXED_POINT = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
/** Largest magnitude a fixed-point number may have: 10^18 - 1, the reference's `UPPER_BOUND`. */
const FIXED_POINT_BOUND = 10n ** 18n - 1n;

/**
 * A decimal literal as an integer count of 10^-decimals, or null where the text is no number, is finer than that or
 * reaches 10^18. Source: `ParseFixedPoint`.
 */
export function parseFixedPoint(text: string, decimals: number): bigint | null {
  if (!FIXED_POINT.test(text)) return null;
  const negative = text.startsWith('-');
  const [significand = '', exponentText = '0'] = (negative ? text.slice(1) : text).split(/[eE]/);
  const [whole = '', fraction = ''] = significand.split('.');
  const digits = (whole === '0' ? '' : whole) + fraction;
  const significant = digits.replace(/0+$/, '');
  const trailingZeros = digits.length - significant.length;
  const mantissa = significant.replace(/^0+/, '');
  if (mantissa.length > 18) return null;
  const magnitudeOfExponent = exponentText.replace(/^[+-]?0*/, '');
  if (magnitudeOfExponent.length > 18) return null;
  const exponent = Number(exponentText) - fraction.length + trailingZeros + decimals;
  if (exponent < 0 || exponent >= 18) return null;
  const value = BigInt(mantissa === '' ? '0' : mantissa) * 10n ** BigInt(exponent);
  if (value > FIXED_POINT_BOUND) return null;
  return negative ? -value : value;
}

/** A finite double as the reference prints it: C's `%.16g`. Source: `UniValue::setFloat`. */
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
