/**
 * Numbers on the stack: little endian, with the sign in the highest bit of the last byte; zero is the empty element.
 * Operands have at most 4 bytes (5 for lock times), results may have one more. Source: Core script.h `CScriptNum`.
 */
import { EMPTY_BYTES, type Bytes } from '../util/bytes.js';

/** Maximum size in bytes of the operand of an arithmetic operation. */
export const MAX_NUMBER_SIZE = 4;
/**
 * Maximum size in bytes of the operand of a lock time operation. Numbers of 4 bytes could not represent times after the year
 * 2038.
 */
export const MAX_LOCKTIME_NUMBER_SIZE = 5;

/**
 * Decodes a number. NaN if it has more than `maxSize` bytes or, with `requireMinimal`, unnecessary bytes (including negative
 * zero).
 */
export function decodeScriptNumber(bytes: Bytes, requireMinimal: boolean, maxSize = MAX_NUMBER_SIZE): number {
  const size = bytes.length;
  if (size > maxSize) return NaN;
  if (size === 0) return 0;
  const last = bytes[size - 1]!;
  if (requireMinimal && (last & 0x7f) === 0 && (size === 1 || (bytes[size - 2]! & 0x80) === 0)) return NaN;
  let magnitude = last & 0x7f;
  for (let i = size - 2; i >= 0; i--) magnitude = magnitude * 256 + bytes[i]!;
  return last & 0x80 && magnitude !== 0 ? -magnitude : magnitude;
}

/** Encodings of −1 to 16, created once and used for all stacks, because stack elements are never modified. */
const SMALL: Bytes[] = [Uint8Array.of(0x81), EMPTY_BYTES];
for (let n = 1; n <= 16; n++) SMALL.push(Uint8Array.of(n));

/** Returns the minimal encoding of an integer within 2^53. The caller must not modify the result. */
export function encodeScriptNumber(value: number): Bytes {
  if (value >= -1 && value <= 16) return SMALL[value + 1]!;
  const bytes: number[] = [];
  let rest = Math.abs(value);
  for (; rest > 0; rest = Math.floor(rest / 256)) bytes.push(rest % 256);
  const sign = value < 0 ? 0x80 : 0;
  if (bytes[bytes.length - 1]! & 0x80) bytes.push(sign);
  else bytes[bytes.length - 1]! |= sign;
  return Uint8Array.from(bytes);
}
