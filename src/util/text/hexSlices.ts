/** Decodes hex digits in slices, because the text may have megabytes. */
import { isHex } from '../bytes.js';
import { AT_ONCE_SIZE, type Slices } from '../slices.js';

/** Decodes hex digits. Null if the text has an odd number of digits or other characters. */
export function* decodeHexInSlices(text: string): Slices<Buffer | null> {
  if (text.length % 2 !== 0) return null;
  const bytes = Buffer.allocUnsafe(text.length / 2);
  for (let at = 0; at < text.length; at += AT_ONCE_SIZE, yield) {
    const digits = text.slice(at, at + AT_ONCE_SIZE);
    if (!isHex(digits)) return null;
    bytes.write(digits, at / 2, 'hex');
  }
  return bytes;
}
