/** Converts names of claims, which may be any bytes, to text. */
import { isUtf8 } from 'node:buffer';
import { asBuffer, type Bytes } from '../../util/bytes.js';

/** Escape sequences of those bytes for which JSON has a short form. */
const SHORT_ESCAPES: Readonly<Record<number, string>> = {
  0x08: '\\b',
  0x09: '\\t',
  0x0a: '\\n',
  0x0c: '\\f',
  0x0d: '\\r',
  0x22: '\\"',
  0x5c: '\\\\',
};

/**
 * Formats a name for RPC results. QUIRK: bytes that are not well-formed UTF-8 are escaped one by one. The escape is part of
 * the text: JSON escapes the backslash once more, so a client reads the six characters `\u00ff`. A vertical tab is not
 * escaped. Source: lbrycrd rpc/claimtrie.cpp `escapeNonUtf8`. Test: test/unit/rpc/claimtrie/claimsText.test.ts.
 */
export function nameText(name: Bytes): string {
  if (isUtf8(name)) return asBuffer(name).toString('utf8');
  let text = '';
  for (const byte of name) {
    const short = SHORT_ESCAPES[byte];
    if (short !== undefined) text += short;
    else if (byte < 0x08 || (byte >= 0x0e && byte <= 0x1f) || byte >= 0x7f) {
      text += `\\u${byte.toString(16).padStart(4, '0')}`;
    } else text += String.fromCharCode(byte);
  }
  return text;
}

/** Formats a name as lbcd does: each byte that is not part of well-formed UTF-8 becomes U+FFFD (Go's encoding/json). */
export function nameTextWithReplacements(name: Bytes): string {
  const bytes = asBuffer(name);
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const length = [1, 2, 3, 4].find(
      (size) => at + size <= bytes.length && isUtf8(bytes.subarray(at, at + size)),
    );
    text += length === undefined ? '\ufffd' : bytes.toString('utf8', at, at + length);
    at += length ?? 1;
  }
  return text;
}

/** Returns the bytes of a name that was received as JSON text. */
export function nameBytes(text: string): Buffer {
  return Buffer.from(text, 'utf8');
}
