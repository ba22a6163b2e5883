/**
 * Byte-string helpers shared by every layer: hex, comparison, concatenation, map keys.
 * Hashes are 32-byte arrays in wire order. Only RPC and logs reverse their bytes.
 */

export type Bytes = Uint8Array;

export const EMPTY_BYTES: Bytes = new Uint8Array(0);

/** Returns a Buffer over the same memory, without a copy. */
export function asBuffer(bytes: Bytes): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function toHex(bytes: Bytes): string {
  return asBuffer(bytes).toString('hex');
}

/**
 * Whether `text` consists of an even number of hexadecimal digits. An empty text is valid. Source: Core's `IsHex`, which
 * differs in that it rejects an empty text.
 */
export function isHex(text: string): boolean {
  return text.length % 2 === 0 && /^[0-9a-fA-F]*$/.test(text);
}

/** Decodes an even number of hex digits. Throws `RangeError` for other texts. */
export function fromHex(text: string): Buffer {
  if (!isHex(text)) throw new RangeError('not a hexadecimal string');
  return Buffer.from(text, 'hex');
}

/** Scratch buffer for reversing hashes, which have at most 64 bytes. */
const reversed = Buffer.alloc(64);

/** Converts a hash to its printed form: the hex digits of the reversed bytes. */
export function hashToHex(hash: Bytes): string {
  const { length } = hash;
  if (length > reversed.length) return Buffer.from(hash).reverse().toString('hex');
  for (let i = 0; i < length; i++) reversed[length - 1 - i] = hash[i]!;
  return reversed.toString('hex', 0, length);
}

/**
 * Converts the printed form of a hash to wire order. The number of hex digits may be any even number. Throws `RangeError`
 * for invalid hex.
 */
export function hashFromHex(text: string): Buffer {
  return fromHex(text).reverse();
}

export function equalBytes(a: Bytes, b: Bytes): boolean {
  return a.length === b.length && asBuffer(a).equals(b);
}

/** Compares byte strings in unsigned lexicographic order. The result is negative, zero or positive. */
export function compareBytes(a: Bytes, b: Bytes): number {
  return Buffer.compare(a, b);
}

export function concatBytes(...parts: Bytes[]): Buffer {
  return Buffer.concat(parts);
}

/**
 * Converts bytes to a string with one UTF-16 code unit per byte. The string is a compact map key, and the order of strings
 * is the order of bytes.
 */
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
