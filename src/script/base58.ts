/**
 * Base58 and its form with a checksum, of addresses and exported keys. The package computes the digits. Here are what the
 * reference reads of a text (no white space around it, nothing behind a NUL character), and the checksum, which takes a third
 * of the time with the addon's hash than with the package `bs58check`. Source: Core base58.cpp.
 */
import bs58 from 'bs58';
import { sha256d } from '../crypto/hash.js';
import { asBuffer, type Bytes } from '../util/bytes.js';

const CHECKSUM_SIZE = 4;
/**
 * Most digits that are decoded where a checksum is wanted. Decoding takes time by the square of the length, and nothing
 * that is written so comes near: an extended key has 112. Arbitrary beyond that.
 */
const MAX_CHECKED_DIGITS = 1024;
const WHITE_SPACE = ' \t\n\v\f\r';

/** Every leading zero byte is a `1`, the rest one big number. */
export function encodeBase58(bytes: Bytes): string {
  return bs58.encode(bytes);
}

const LEADING_SPACE = /[ \t\n\v\f\r]*/y;

/**
 * What the reference reads of a text: up to the first NUL, without the white space around it. Of a text that has more
 * than `maxDigits` of it only this many and one.
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
  // White space between digits stays, and is not a digit.
  return whole.slice(start, LEADING_SPACE.lastIndex === whole.length ? end : end + 1);
}

/**
 * The bytes, or null when a character is not of the alphabet or there are more digits than `maxDigits`. White space
 * around the text is skipped.
 */
export function decodeBase58(text: string, maxDigits = Infinity): Buffer | null {
  const digits = digitsOf(text, maxDigits);
  if (digits.length > maxDigits) return null;
  const bytes = bs58.decodeUnsafe(digits);
  return bytes === undefined ? null : asBuffer(bytes);
}

/** Base58 of the payload and the first four bytes of its double SHA-256. */
export function encodeBase58Check(payload: Bytes): string {
  const bytes = Buffer.allocUnsafe(payload.length + CHECKSUM_SIZE);
  bytes.set(payload);
  const digest = sha256d(payload);
  bytes.set(digest.subarray(0, CHECKSUM_SIZE), payload.length);
  return encodeBase58(bytes);
}

/** The payload, or null on a bad character, a missing or a wrong checksum, or a text longer than any of its kind. */
export function decodeBase58Check(text: string): Buffer | null {
  const bytes = decodeBase58(text, MAX_CHECKED_DIGITS);
  if (bytes === null || bytes.length < CHECKSUM_SIZE) return null;
  const payload = bytes.subarray(0, bytes.length - CHECKSUM_SIZE);
  const checksum = sha256d(payload).subarray(0, CHECKSUM_SIZE);
  return checksum.equals(bytes.subarray(bytes.length - CHECKSUM_SIZE)) ? payload : null;
}
