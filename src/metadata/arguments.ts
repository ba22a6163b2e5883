/** Takes typed values from the JSON arguments of commands. The error for an invalid argument contains the argument's name. */
import { isHex } from '../util/bytes.js';
import { isJsonNumber, numberText, type JsonObject, type JsonValue } from '../util/json/json.js';
import { decimalOfDouble, parseDecimal, type Decimal } from './decimal.js';
import { MetadataError } from './metadataError.js';

export const MAX_UINT32 = (1n << 32n) - 1n;
export const MAX_UINT64 = (1n << 64n) - 1n;

/** Throws `MetadataError` for null, which is not allowed as the value of an argument. */
function requireGiven(value: JsonValue, name: string): void {
  if (value === null) throw new MetadataError(`None or null is not valid value for argument '${name}'.`);
}

export function textOf(value: JsonValue, name: string): string {
  if (typeof value !== 'string') throw new MetadataError(`${name} must be a string`);
  if (/\p{Surrogate}/u.test(value))
    throw new MetadataError(`${name} contains an unpaired surrogate character`);
  return value;
}

/** Parses a text of hexadecimal digits to bytes of any length. */
export function hexOf(value: JsonValue, name: string): Buffer {
  const text = textOf(value, name);
  if (!isHex(text)) throw new MetadataError(`${name} must be an even number of hex digits`);
  return Buffer.from(text, 'hex');
}

/** Parses an integer. Throws `MetadataError` if it is not within `min` and `max`. */
export function integerOf(value: JsonValue, name: string, min: bigint, max: bigint): bigint {
  const text = isJsonNumber(value) ? numberText(value) : '';
  // A longer text is out of every range, and the conversion of many digits takes long.
  if (!/^-?[0-9]{1,100}$/.test(text)) throw new MetadataError(`${name} must be an integer`);
  const integer = BigInt(text);
  checkRange(integer, min, max);
  return integer;
}

export function checkRange(integer: bigint, min: bigint, max: bigint): void {
  if (integer < min || integer > max) throw new MetadataError(`Value out of range: ${integer}`);
}

/**
 * Parses a number, or a text with a number. A number with a fraction or an exponent is converted to the exact value of its
 * double.
 */
export function decimalOf(value: JsonValue, name: string): Decimal {
  let decimal: Decimal | null = null;
  if (typeof value === 'string') decimal = parseDecimal(value);
  else if (isJsonNumber(value)) {
    const text = numberText(value);
    decimal = /^-?[0-9]+$/.test(text) ? parseDecimal(text) : decimalOfDouble(Number(text));
  }
  if (decimal === null) throw new MetadataError(`${name} must be a number`);
  return decimal;
}

/** Arguments of a command that have not been read yet. Reading an argument removes it. */
export class Arguments {
  private readonly values: Map<string, JsonValue>;

  constructor(values: JsonObject) {
    this.values = new Map(values.entries);
  }

  /** Returns and removes an argument; undefined if it was not given. */
  take(name: string): JsonValue | undefined {
    const value = this.values.get(name);
    this.values.delete(name);
    return value;
  }

  /** Removes a switch from the arguments. Returns whether the switch was given and is on. */
  takeFlag(name: string): boolean {
    return isTruthy(this.take(name));
  }

  /** Removes the arguments whose names start with the prefix, and returns them. */
  takeAll(prefix: string): [string, JsonValue][] {
    const found = [...this.values].filter(([name]) => name.startsWith(prefix));
    for (const [name] of found) this.values.delete(name);
    return found;
  }

  requireNoNulls(): void {
    for (const [name, value] of this.values) requireGiven(value, name);
  }

  requireNoneLeft(kind: string): void {
    for (const name of this.values.keys()) throw new MetadataError(`A ${kind} has no argument '${name}'`);
  }
}

/** Whether a value counts as given. An empty text, zero, false and an empty list do not. */
export function isTruthy(value: JsonValue | undefined): value is JsonValue {
  if (value === undefined || value === null || value === '' || value === false) return false;
  if (isJsonNumber(value)) return Number(numberText(value)) !== 0;
  return !Array.isArray(value) || value.length > 0;
}
