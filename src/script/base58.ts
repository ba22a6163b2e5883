/**
 * Base58 and Base58Check for addresses and exported keys. The package `@scure/base` converts the digits and checks the checksum.
 * This file handles the text like the reference: surrounding white space and everything after a NUL character are ignored.
 * Source: Core base58.cpp.
 */
import { base58, createBase58check } from '@scure/base';
import { sha256 } from '../crypto/hash.js';
import { loadNative } from '../native/binding.js';
import { asBuffer, type Bytes } from '../util/bytes.js';

const base58check = createBase58check(sha256);
/**
 * Maximum number of digits that are decoded for Base58Check. Decoding takes quadratic time, and valid texts are much
 * shorter: an extended key has 112 digits. Arbitrary.
 */
const MAX_CHECKED_DIGITS = 1024;
const WHITE_SPACE = ' \t\n\v\f\r';

/** Encodes bytes as base58. Each leading zero byte becomes a `1`; the remaining bytes are encoded as one big number. */
export function encodeBase58(bytes: Bytes): string {
  return base58.encode(bytes);
}

const LEADING_SPACE = /[ \t\n\v\f\r]*/y;

/**
 * Returns the part of a text that the reference decodes: up to the first NUL, without white space at both ends. If it is
 * longer than `maxDigits`, only the first `maxDigits` + 1 characters are returned.
 */
function digitsOf(text: string, maxDigits: number): string {
  const nul = text.indexOf('\0');
  const whole = nul < 0 ? text : text.slice(0, nul);
  LEADING_SPACE.lastIndex = 0;
  LEADING_SPACE.test(whole);
  const start = LEADING_SPACE.lastIndex;
  let end = start;
  const most = Math.min(whole.length, start + maxDigits + 1);
  while (end < most && !WHITE_SPACE.includes(whole[end]!)) end++;
  if (end === whole.length || end - start > maxDigits) return whole.slice(start, end);
  LEADING_SPACE.lastIndex = end;
  LEADING_SPACE.test(whole);
  // White space between digits is not removed, so it counts as an invalid digit.
  return whole.slice(start, LEADING_SPACE.lastIndex === whole.length ? end : end + 1);
}

/**
 * Decodes base58. Null if a character is not in the alphabet, or if there are more than `maxDigits` digits. White space at
 * both ends is ignored.
 */
export function decodeBase58(text: string, maxDigits = Infinity): Buffer | null {
  const digits = digitsOf(text, maxDigits);
  return digits.length > maxDigits ? null : decodedBy(base58, digits);
}

/** Maximum size in bytes of a payload that the addon encodes. Extended keys have 78 bytes. */
const MAX_NATIVE_BYTES = 128;

/** Encodes a payload followed by the first four bytes of its double SHA-256. */
export function encodeBase58Check(payload: Bytes): string {
  const native = payload.length <= MAX_NATIVE_BYTES ? loadNative() : null;
  return native === null ? encodeBase58CheckFallback(payload) : native.base58Check(payload);
}

/** JavaScript fallback of the addon's `base58Check`. */
export function encodeBase58CheckFallback(payload: Bytes): string {
  return base58check.encode(payload);
}

/**
 * Decodes Base58Check and returns the payload. Null for an invalid character, a missing or wrong checksum, or a text that is
 * too long.
 */
export function decodeBase58Check(text: string): Buffer | null {
  const digits = digitsOf(text, MAX_CHECKED_DIGITS);
  return digits.length > MAX_CHECKED_DIGITS ? null : decodedBy(base58check, digits);
}

/** Decodes by a codec of the package, which throws for an invalid character and for a wrong checksum. */
function decodedBy({ decode }: typeof base58, digits: string): Buffer | null {
  try {
    return asBuffer(decode(digits));
  } catch {
    return null;
  }
}
