/**
 * The hash functions of the chain over byte arrays, synchronously.
 * Small inputs go through OpenSSL (node:crypto); @noble/hashes is the readable twin in the differential tests.
 */
import { createHash } from 'node:crypto';
import type { Bytes } from '../util/bytes.js';

export function sha256(data: Bytes): Buffer {
  return createHash('sha256').update(data).digest();
}

/** Double SHA-256, 32 bytes in wire order. */
export function sha256d(data: Bytes): Buffer {
  return sha256(sha256(data));
}

/** Double SHA-256 of two concatenated byte arrays, without the copy. */
export function sha256dPair(left: Bytes, right: Bytes): Buffer {
  return sha256(createHash('sha256').update(left).update(right).digest());
}

export function sha512(data: Bytes): Buffer {
  return createHash('sha512').update(data).digest();
}

export function sha1(data: Bytes): Buffer {
  return createHash('sha1').update(data).digest();
}

export function ripemd160(data: Bytes): Buffer {
  return createHash('ripemd160').update(data).digest();
}

/** RIPEMD-160 of SHA-256, 20 bytes. */
export function hash160(data: Bytes): Buffer {
  return ripemd160(sha256(data));
}
