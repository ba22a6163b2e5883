/** Parses the DER structure in which old channels store their public key. Source: RFC 5280, RFC 5480. */
import type { Bytes } from '../util/bytes.js';

const SEQUENCE = 0x30;
const OBJECT_ID = 0x06;
const BIT_STRING = 0x03;
const NULL = 0x05;
/** Object id of elliptic curve keys, 1.2.840.10045.2.1, as the algorithm of a public key. Source: RFC 5480. */
const EC_PUBLIC_KEY = Buffer.from('2a8648ce3d0201', 'hex');

/**
 * Reads the DER element with this tag at the start of the bytes. Returns its content and the remaining bytes; null if the
 * element is missing or malformed.
 */
function readElement(bytes: Bytes, tag: number): { content: Bytes; rest: Bytes } | null {
  let at = 2;
  let size = bytes[1];
  if (bytes[0] !== tag || size === undefined) return null;
  if (size >= 0x80) {
    const sizeBytes = size & 0x7f;
    if (sizeBytes === 0 || sizeBytes > 3 || bytes.length < at + sizeBytes) return null;
    size = 0;
    for (const end = at + sizeBytes; at < end; at++) size = size * 256 + bytes[at]!;
  }
  if (bytes.length < at + size) return null;
  return { content: bytes.subarray(at, at + size), rest: bytes.subarray(at + size) };
}

/**
 * Whether the bytes after the object id are valid curve parameters: nothing, the object id of a curve, explicit parameters,
 * or null.
 */
function areCurveParameters(bytes: Bytes): boolean {
  if (bytes.length === 0) return true;
  return [OBJECT_ID, SEQUENCE, NULL].some((tag) => readElement(bytes, tag)?.rest.length === 0);
}

/** Encoded curve point in a SubjectPublicKeyInfo, for any curve; null if there is none. */
export function readPublicKeyInfo(info: Bytes): Bytes | null {
  const outer = readElement(info, SEQUENCE)?.content;
  const algorithm = outer && readElement(outer, SEQUENCE);
  const objectId = algorithm && readElement(algorithm.content, OBJECT_ID);
  if (!algorithm || !objectId || !EC_PUBLIC_KEY.equals(objectId.content)) return null;
  if (!areCurveParameters(objectId.rest)) return null;
  const bits = readElement(algorithm.rest, BIT_STRING)?.content;
  // The first byte of a bit string is the number of unused bits in its last byte. A key has no unused bits, so the number
  // must be 0.
  return bits?.[0] === 0 ? bits.subarray(1) : null;
}
