/**
 * Strict UTF-8 to code points and back.
 * Well-formed UTF-8 is defined by the Unicode standard's table 3-7: no surrogates, overlong forms, code points above
 * U+10FFFF or truncated sequences. U+0000 and noncharacters are ordinary.
 */
import type { Bytes } from '../../util/bytes.js';

/** Appends the code points of `bytes` to `out`; false (with `out` partly filled) when the bytes are not well-formed UTF-8. */
export function decodeUtf8(bytes: Bytes, out: number[]): boolean {
  const end = bytes.length;
  for (let i = 0; i < end;) {
    const lead = bytes[i++]!;
    if (lead < 0x80) {
      out.push(lead);
      continue;
    }
    let more: number;
    let code: number;
    // Range of the second byte; the range of later bytes is always 80 to BF.
    let low = 0x80;
    let high = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf) {
      more = 1;
      code = lead & 0x1f;
    } else if (lead >= 0xe0 && lead <= 0xef) {
      more = 2;
      code = lead & 0x0f;
      if (lead === 0xe0) low = 0xa0;
      else if (lead === 0xed) high = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      more = 3;
      code = lead & 0x07;
      if (lead === 0xf0) low = 0x90;
      else if (lead === 0xf4) high = 0x8f;
    } else {
      return false;
    }
    if (end - i < more) return false;
    for (; more > 0; more--) {
      const next = bytes[i++]!;
      if (next < low || next > high) return false;
      low = 0x80;
      high = 0xbf;
      code = (code << 6) | (next & 0x3f);
    }
    out.push(code);
  }
  return true;
}

/** Encodes code points, none of them a surrogate, as UTF-8. */
export function encodeUtf8(codes: readonly number[]): Buffer {
  let size = 0;
  for (const code of codes) size += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const code of codes) {
    if (code < 0x80) {
      bytes[at++] = code;
      continue;
    }
    if (code < 0x800) {
      bytes[at++] = 0xc0 | (code >> 6);
    } else {
      if (code < 0x10000) {
        bytes[at++] = 0xe0 | (code >> 12);
      } else {
        bytes[at++] = 0xf0 | (code >> 18);
        bytes[at++] = 0x80 | ((code >> 12) & 0x3f);
      }
      bytes[at++] = 0x80 | ((code >> 6) & 0x3f);
    }
    bytes[at++] = 0x80 | (code & 0x3f);
  }
  return bytes;
}
