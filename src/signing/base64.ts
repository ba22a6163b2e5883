/** Base64 as the reference reads it: up to the first character that is none. Source: Core 0.17 utilstrencodings.cpp. */

export interface DecodedBase64 {
  /** What the digits before the first other character say. */
  readonly bytes: Buffer;
  /** Whether the rest is the right padding and nothing else. */
  readonly valid: boolean;
}

/** Text behind a NUL is not looked at. */
export function decodeBase64(text: string): DecodedBase64 {
  const [whole = ''] = text.split('\0', 1);
  const [digits = ''] = /^[A-Za-z0-9+/]*/.exec(whole) ?? [];
  const bytes = Buffer.from(digits, 'base64');
  const padding = whole.slice(digits.length);
  // Bits of a last character that fill no byte must be zero.
  const unpadded = bytes.toString('base64').replace(/=+$/, '');
  const valid = unpadded === digits && /^={0,3}$/.test(padding) && whole.length % 4 === 0;
  return { bytes, valid };
}
