/**
 * Byte-string helpers shared by every layer: hex, comparison, concatenation, map keys.
 * Stateless. Hashes are 32-byte arrays in wire order; only RPC and logs reverse them.
 */

export type Bytes = Uint8Array;

export const EMPTY_BYTES: Bytes = new Uint8Array(0);

/** A zero-copy Buffer over the same memory. */
export function asBuffer(bytes: Bytes): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function toHex(bytes: Bytes): string {
  return asBuffer(bytes).toString('hex');
}

/**
 * Whether `text` is an even number of hexadecimal digits (the empty string is). Source: Core's `IsHex`, except for the empty
 * case.
 */
export function isHex(text: string): boolean {
  return text.length % 2 === 0 && /^[0-9a-fA-F]*$/.test(text);
}

/** Decodes an even number of hex digits. Throws `RangeError` on anything else. */
export function fromHex(text: string): Buffer {
  if (!isHex(text)) throw new RangeError('not a hexadecimal string');
  return Buffer.from(text, 'hex');
}

/** Buffer for reversing hashes; none is longer. */
const reversed = Buffer.alloc(64);

/** Hash to its printed form: reversed hex. */
export function hashToHex(hash: Bytes): string {
  const { length } = hash;
  if (length > reversed.length) return Buffer.from(hash).reverse().toString('hex');
  for (let i = 0; i < length; i++) reversed[length - 1 - i] = hash[i]!;
  return reversed.toString('hex', 0, length);
}

/** Printed form (64 or 40 hex digits, any even length) to wire order. Throws `RangeError` on invalid hex. */
export function hashFromHex(text: string): Buffer {
  return fromHex(text).reverse();
}

export function equalBytes(a: Bytes, b: Bytes): boolean {
  return a.length === b.length && asBuffer(a).equals(b);
}

/** Unsigned lexicographic order: returns a negative number, zero or a positive number. */
export function compareBytes(a: Bytes, b: Bytes): number {
  return Buffer.compare(a, b);
}

export function concatBytes(...parts: Bytes[]): Buffer {
  return Buffer.concat(parts);
}

/** One UTF-16 code unit per byte: a compact map key whose string order is the byte order. */
export function toLatin1(bytes: Bytes): string {
  return asBuffer(bytes).toString('latin1');
}

export function fromLatin1(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

export function isZero(bytes: Bytes): boolean {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== 0) return false;
  return true;
}
