/**
 * Decimal numbers with the arithmetic that the reference uses for fees and coordinates: exact when parsed, rounded to 28
 * digits when scaled, and formatted with an exponent when small. Bytes on the chain and texts in responses depend on it.
 * Source: Python's decimal.py with its default context.
 */
import { MetadataError } from './metadataError.js';

/** A decimal number: `digits` times ten to the power of `exponent`. */
export interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** Number of significant digits to which results are rounded, half to even. Source: `decimal.DefaultContext.prec`. */
const PRECISION = 28;
/** Maximum length in characters of a number's text. Arbitrary: more digits than any meaningful number has. */
const MAX_TEXT_CHARS = 1000;
/** Maximum number of digits of an integer result. A 64-bit number has fewer digits. */
const MAX_INTEGER_DIGITS = 30;
const PATTERN = /^([+-]?)(?=\d|\.\d)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,9}))?$/i;

const digitCount = (digits: bigint): number => (digits < 0n ? -digits : digits).toString().length;
const powerOfTen = (exponent: number): bigint => 10n ** BigInt(exponent);

/** Parses a number with or without an exponent. White space around it is ignored. Null if the text is malformed. */
export function parseDecimal(text: string): Decimal | null {
  if (text.length > MAX_TEXT_CHARS) return null;
  const match = PATTERN.exec(text.trim());
  if (match === null) return null;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const digits = BigInt(whole + fraction);
  return { digits: sign === '-' ? -digits : digits, exponent: Number(exponent) - fraction.length };
}

const MANTISSA_BITS = 52n;
/** Difference between a double's biased exponent and the exponent of its lowest bit. */
const EXPONENT_BIAS = 1075;

/** Exact value of a double; null for NaN and infinities. */
export function decimalOfDouble(value: number): Decimal | null {
  if (!Number.isFinite(value)) return null;
  const bits = new BigUint64Array(new Float64Array([Math.abs(value)]).buffer)[0]!;
  const biased = Number(bits >> MANTISSA_BITS);
  const fraction = bits & ((1n << MANTISSA_BITS) - 1n);
  const mantissa = biased === 0 ? fraction : fraction | (1n << MANTISSA_BITS);
  const signed = value < 0 ? -mantissa : mantissa;
  const exponent = Math.max(biased, 1) - EXPONENT_BIAS;
  if (exponent >= 0) return { digits: signed << BigInt(exponent), exponent: 0 };
  return { digits: signed * 5n ** BigInt(-exponent), exponent };
}

/** Rounds to `PRECISION` digits. */
function round({ digits, exponent }: Decimal): Decimal {
  const surplus = digitCount(digits) - PRECISION;
  if (surplus <= 0) return { digits, exponent };
  const unit = powerOfTen(surplus);
  const negative = digits < 0n;
  const magnitude = negative ? -digits : digits;
  const rest = (magnitude % unit) * 2n;
  let rounded = magnitude / unit;
  if (rest > unit || (rest === unit && rounded % 2n === 1n)) rounded += 1n;
  return { digits: negative ? -rounded : rounded, exponent: exponent + surplus };
}

/**
 * Multiplies the number by ten to the power of `power` and removes the fraction. Throws `MetadataError` if the result has
 * too many digits.
 */
export function scaleToInteger(number: Decimal, power: number): bigint {
  const { digits, exponent } = round(number);
  const shift = exponent + power;
  if (digits === 0n || digitCount(digits) + shift <= 0) return 0n;
  if (digitCount(digits) + shift > MAX_INTEGER_DIGITS) throw new MetadataError('The number is too large');
  return shift < 0 ? digits / powerOfTen(-shift) : digits * powerOfTen(shift);
}

/** Rounds to `places` decimal places, away from zero. Throws `MetadataError` if the result has too many digits. */
export function roundUp(number: Decimal, places: number): Decimal {
  const { digits, exponent } = number;
  const size = digitCount(digits) + exponent + places;
  if (digits !== 0n && size > PRECISION) throw new MetadataError('The number is too large');
  const shift = exponent + places;
  if (shift >= 0) return { digits: digits === 0n ? 0n : digits * powerOfTen(shift), exponent: -places };
  const sign = digits < 0n ? -1n : 1n;
  if (size < 0) return { digits: digits === 0n ? 0n : sign, exponent: -places };
  const unit = powerOfTen(-shift);
  return { digits: digits / unit + (digits % unit === 0n ? 0n : sign), exponent: -places };
}

/**
 * Compares a number with an integer. The result is negative, zero or positive if the number is less than, equal to or
 * greater than the integer.
 */
export function compareToInteger({ digits, exponent }: Decimal, integer: number): number {
  if (digits === 0n) return -Math.sign(integer);
  const size = digitCount(digits) + exponent;
  // The integers in comparisons should stay small. If the magnitudes differ by more than `PRECISION` digits, the result is
  // known without computing a power of ten.
  if (size > PRECISION) return digits < 0n ? -1 : 1;
  if (size < -PRECISION) return integer === 0 ? (digits < 0n ? -1 : 1) : -Math.sign(integer);
  const [left, right] =
    exponent < 0
      ? [digits, BigInt(integer) * powerOfTen(-exponent)]
      : [digits * powerOfTen(exponent), BigInt(integer)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/**
 * The text of an integer divided by ten to `places`. Trailing zeros are removed while the exponent is below `idealExponent`.
 * Numbers below 0.000001, or with a positive exponent, are written with an exponent. Source: `Decimal.__str__`.
 */
export function formatQuotient(integer: bigint, places: number, idealExponent = 0): string {
  const negative = integer < 0n;
  let digits = (negative ? -integer : integer).toString();
  let exponent = -places;
  while (exponent < idealExponent && digits.length > 1 && digits.endsWith('0')) {
    digits = digits.slice(0, -1);
    exponent += 1;
  }
  const pointAt = digits.length + exponent;
  const isPlain = exponent <= 0 && pointAt > -6;
  const place = isPlain ? pointAt : 1;
  const text =
    place <= 0
      ? `0.${'0'.repeat(-place)}${digits}`
      : place >= digits.length
        ? digits
        : `${digits.slice(0, place)}.${digits.slice(place)}`;
  const shown = pointAt - place;
  const suffix = shown === 0 ? '' : `E${shown < 0 ? '-' : '+'}${Math.abs(shown)}`;
  return (negative ? '-' : '') + text + suffix;
}
