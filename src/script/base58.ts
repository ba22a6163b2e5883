/**
 * Base58 and its form with a checksum, of addresses and exported keys.
 * Written out because the reference takes white space around a string and ends it at a NUL character, which the
 * packages refuse; the tests hold it against `bs58check`. Source: Core base58.cpp.
 */
import { sha256d } from '../crypto/hash.js';
import { loadNative } from '../native/binding.js';
import type { Bytes } from '../util/bytes.js';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const CHECKSUM_SIZE = 4;
/**
 * Most digits that are decoded where a checksum is wanted. Decoding takes time by the square of the length, and nothing
 * that is written so comes near: an extended key has 112. Arbitrary beyond that.
 */
const MAX_CHECKED_DIGITS = 1024;
const WHITE_SPACE = ' \t\n\v\f\r';

/** Value of each ASCII character, 255 for what is not in the alphabet. */
const VALUES = new Uint8Array(128).fill(255);
for (let i = 0; i < ALPHABET.length; i++) VALUES[ALPHABET.charCodeAt(i)] = i;

function countLeading<T>(items: ArrayLike<T>, zero: T): number {
  let count = 0;
  while (count < items.length && items[count] === zero) count += 1;
  return count;
}

/** Digits that a limb holds, and one more than the largest: 2^16 times that is still an exact number. */
const LIMB_DIGITS = 5;
const LIMB = ALPHABET.length ** LIMB_DIGITS;

/** The digits of a limb, leading zeros included. */
function limbText(limb: number): string {
  let text = '';
  for (let i = 0, rest = limb; i < LIMB_DIGITS; i++, rest = Math.floor(rest / 58))
    text = ALPHABET[rest % 58]! + text;
  return text;
}

/** Every leading zero byte is a `1`, the rest one big number. */
export function encodeBase58(bytes: Bytes): string {
  const zeros = countLeading(bytes, 0);
  const ones = ALPHABET[0]!.repeat(zeros);
  if (zeros === bytes.length) return ones;
  /** The number, least significant limb first. */
  const limbs: number[] = [];
  const add = (scale: number, value: number): void => {
    let carry = value;
    for (let k = 0; k < limbs.length; k++) {
      carry += limbs[k]! * scale;
      const next = Math.floor(carry / LIMB);
      limbs[k] = carry - next * LIMB;
      carry = next;
    }
    if (carry > 0) limbs.push(carry);
  };
  let at = zeros;
  if ((bytes.length - zeros) % 2 === 1) add(256, bytes[at++]!);
  for (; at < bytes.length; at += 2) add(65_536, bytes[at]! * 256 + bytes[at + 1]!);
  let text = '';
  for (const limb of limbs) text = limbText(limb) + text;
  // Nothing but the highest limb's own zeros stand in front.
  return ones + text.replace(/^1+/, '');
}

const LEADING_SPACE = /[ \t\n\v\f\r]*/y;

/**
 * What the reference reads of a text: up to the first NUL, without the white space around it. Of a text that has more
 * than `maxDigits` of it only so many and one.
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
  // White space between digits stays, and is no digit.
  return whole.slice(start, LEADING_SPACE.lastIndex === whole.length ? end : end + 1);
}

/**
 * The bytes, or null when a character is not of the alphabet or there are more digits than `maxDigits`. White space
 * around the text is skipped.
 */
export function decodeBase58(text: string, maxDigits = Infinity): Buffer | null {
  const digits = digitsOf(text, maxDigits);
  if (digits.length > maxDigits) return null;
  const zeros = countLeading(digits, ALPHABET[0]!);
  /** Bytes, least significant first. */
  const bytes: number[] = [];
  for (let i = zeros; i < digits.length; i++) {
    let carry = VALUES[digits.charCodeAt(i)] ?? 255;
    if (carry === 255) return null;
    for (let k = 0; k < bytes.length; k++) {
      carry += bytes[k]! * 58;
      bytes[k] = carry & 0xff;
      carry >>= 8;
    }
    for (; carry > 0; carry >>= 8) bytes.push(carry & 0xff);
  }
  return Buffer.concat([Buffer.alloc(zeros), Buffer.from(bytes.reverse())]);
}

/** Base58 of the payload and the first four bytes of its double SHA-256. */
export function encodeBase58Check(payload: Bytes): string {
  const bytes = Buffer.allocUnsafe(payload.length + CHECKSUM_SIZE);
  bytes.set(payload);
  const digest = loadNative()?.sha256d(payload) ?? sha256d(payload);
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
