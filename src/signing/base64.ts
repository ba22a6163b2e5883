/** Base64 decoding as in the reference: up to the first invalid character. Source: Core 0.17 utilstrencodings.cpp. */
import { atOnce, type Slices } from '../util/slices.js';

export interface DecodedBase64 {
  /** The bytes decoded from the digits before the first invalid character. */
  readonly bytes: Buffer;
  /** Whether the rest is exactly the correct padding. */
  readonly valid: boolean;
}

/** Digits decoded between two pauses: whole groups of four. */
const DIGITS_AT_ONCE = 65_536;

/** Text after a NUL is ignored. */
export function decodeBase64(text: string): DecodedBase64 {
  return atOnce(decodeBase64InSlices(text));
}

/** The same in slices. */
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
    // The unused bits of a last character must be zero.
    isCanonical &&= bytes.toString('base64').replace(/=+$/, '') === good;
    parts.push(bytes);
    digits += good.length;
    isAtEnd = good.length < piece.length;
  }
  const padding = text.slice(digits, Math.min(length, digits + 4));
  const valid = isCanonical && /^={0,3}$/.test(padding) && length % 4 === 0;
  return { bytes: Buffer.concat(parts), valid };
}
