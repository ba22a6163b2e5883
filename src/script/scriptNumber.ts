/**
 * Numbers on the stack: little endian, sign in the highest bit of the last byte, zero is empty.
 * Operands have at most 4 bytes (5 for lock times), results may have one more.
 * Source: Core script.h `CScriptNum`.
 */
import { EMPTY_BYTES, type Bytes } from '../util/bytes.js';

/** Maximum bytes of an arithmetic operand. */
export const MAX_NUMBER_SIZE = 4;
/** Maximum bytes of the operand of the lock time operations: 4 would only reach the year 2038. */
export const MAX_LOCKTIME_NUMBER_SIZE = 5;

/**
 * The number, or NaN when it has more than `maxSize` bytes or, with `requireMinimal`, unnecessary bytes (negative zero
 * included).
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

/** -1 to 16, encoded once and shared: stack elements are never modified. */
const SMALL: Bytes[] = [Uint8Array.of(0x81), EMPTY_BYTES];
for (let n = 1; n <= 16; n++) SMALL.push(Uint8Array.of(n));

/** Minimal encoding of an integer within 2^53; the result must not be modified. */
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
