/** Parses single arguments, with the reference's error messages. Source: lbryio/hub herald/session.py. */
import { hashFromHex, isHex } from '../../util/bytes.js';
import { isJsonNumber, numberText, type JsonValue } from '../../util/json/json.js';
import { badRequest, internalError } from './hubError.js';
import { pythonText } from './pythonText.js';

const CLAIM_ID_DIGITS = 40;

/**
 * Parses an integer of at least 0. Strings of digits are accepted, and fractions are truncated. Source:
 * `non_negative_integer`.
 */
export function nonNegativeInteger(value: JsonValue | undefined): number {
  const number = typeof value === 'boolean' ? Number(value) : wholeNumber(value);
  if (number === null || !(number >= 0)) {
    const shown = number === null ? pythonText(value ?? null) : String(number);
    throw badRequest(`${shown} should be a non-negative integer`);
  }
  // The result is limited to a number above any height or count.
  return Math.min(number, Number.MAX_SAFE_INTEGER);
}

function wholeNumber(value: JsonValue | undefined): number | null {
  if (typeof value === 'string') return /^\s*[+-]?[0-9]{1,400}\s*$/.test(value) ? Number(value) : null;
  if (value === undefined || value === null || !isJsonNumber(value)) throw internalError();
  return Math.trunc(Number(numberText(value)));
}

/** Source: `assert_boolean`. */
export function booleanOf(value: JsonValue | undefined): boolean {
  if (value === true || value === 1) return true;
  if (value === false || value === 0) return false;
  throw badRequest(`${pythonText(value ?? null)} should be a boolean value`);
}

/** Parses a transaction id to bytes in wire order. Source: `assert_tx_hash`. */
export function txidOf(value: JsonValue | undefined): Buffer {
  if (typeof value === 'string' && value.length === 64 && isHex(value)) return hashFromHex(value);
  throw badRequest(`${pythonText(value ?? null)} should be a transaction hash`);
}

/** Validates a claim id in its printed form. */
export function claimIdOf(value: JsonValue | undefined): string {
  if (typeof value !== 'string' || value.length !== CLAIM_ID_DIGITS || !isHex(value)) throw internalError();
  return value;
}
