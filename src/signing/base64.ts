/** Base64 decoding as in the reference: decoding stops at the first invalid character. Source: Core 0.17 utilstrencodings.cpp. */
import { atOnce, type Slices } from '../util/slices.js';

export interface DecodedBase64 {
  /** Bytes decoded from the digits before the first invalid character. */
  readonly bytes: Buffer;
  /** Whether the text after the decoded digits is exactly the correct padding. */
  readonly valid: boolean;
}

/**
 * Number of base64 digits that are decoded between two yields to the event loop. A multiple of four, which is one group of
 * digits.
 */
const DIGITS_AT_ONCE = 65_536;

/** Decodes a base64 text. Text after a NUL is ignored. */
export function decodeBase64(text: string): DecodedBase64 {
  return atOnce(decodeBase64InSlices(text));
}

/** Variant of `decodeBase64` that yields to the event loop between slices. */
export function* decodeBase64InSlices(text: string): Slices<DecodedBase64> {
  const nul = text.indexOf('\0');
  const length = nul < 0 ? text.length : nul;
  const parts: Buffer[] = [];
  let digits = 0;
  let isCanonical = true;
  for (let isAtEnd = false; !isAtEnd && digits < length; yield) {
    const piece = text.slice(digits, Math.min(length, digits + DIGITS_AT_ONCE));
    const [good = ''] = /^[A-Za-z0-9+/]*/.exec(piece) ?? [];
    const bytes = Buffer.from(good, 'base64');
    // The unused bits in the last digit must be zero.
    isCanonical &&= bytes.toString('base64').replace(/=+$/, '') === good;
    parts.push(bytes);
    digits += good.length;
    isAtEnd = good.length < piece.length;
  }
  const padding = text.slice(digits, Math.min(length, digits + 4));
  const valid = isCanonical && /^={0,3}$/.test(padding) && length % 4 === 0;
  return { bytes: Buffer.concat(parts), valid };
}
