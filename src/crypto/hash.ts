/**
 * The hash functions of the chain over byte arrays, synchronously.
 * Small inputs are hashed by OpenSSL (node:crypto); @noble/hashes is the readable fallback in the differential tests.
 */
import * as nodeCrypto from 'node:crypto';
import { loadNative } from '../native/binding.js';
import type { Bytes } from '../util/bytes.js';

const { createHash } = nodeCrypto;

/**
 * `crypto.hash` (Node 20.12 and later) creates no hash object. Its result as a string takes half the time of a result as a
 * buffer.
 */
const digest: (algorithm: string, data: Bytes) => Buffer =
  typeof nodeCrypto.hash === 'function'
    ? (algorithm, data) => Buffer.from(nodeCrypto.hash(algorithm, data, 'binary'), 'latin1')
    : (algorithm, data) => createHash(algorithm).update(data).digest();

export function sha256(data: Bytes): Buffer {
  return digest('sha256', data);
}

/** SHA-256 of a text in UTF-8, as a string of one code unit per byte. */
export const sha256OfText: (text: string) => string =
  typeof nodeCrypto.hash === 'function'
    ? (text) => nodeCrypto.hash('sha256', text, 'binary')
    : (text) => createHash('sha256').update(text).digest('binary');

/** Larger data goes through OpenSSL, which has fast code for more processors. Arbitrary: below, the calls count most. */
const SMALL_BYTES = 4096;
/** Where the addon writes a hash: to make memory of its own for each takes longer than to hash. */
const written = Buffer.alloc(32);

/** Double SHA-256, 32 bytes in wire order. */
export function sha256d(data: Bytes): Buffer {
  const native = data.length <= SMALL_BYTES ? loadNative() : null;
  if (native === null) return sha256dFallback(data);
  native.sha256d(data, written);
  return Buffer.from(written);
}

/** The same by OpenSSL alone. */
export function sha256dFallback(data: Bytes): Buffer {
  return sha256(sha256(data));
}

/** Two adjacent hashes: the message of every step of a hash tree. */
const pair = Buffer.alloc(64);

/** Double SHA-256 of two concatenated byte arrays; long ones are not copied. */
export function sha256dPair(left: Bytes, right: Bytes): Buffer {
  if (left.length === 32 && right.length === 32) {
    pair.set(left);
    pair.set(right, 32);
    return sha256d(pair);
  }
  return sha256(createHash('sha256').update(left).update(right).digest());
}

export function sha512(data: Bytes): Buffer {
  return digest('sha512', data);
}

export function sha1(data: Bytes): Buffer {
  return digest('sha1', data);
}

export function ripemd160(data: Bytes): Buffer {
  return digest('ripemd160', data);
}

/** RIPEMD-160 of SHA-256, 20 bytes. */
export function hash160(data: Bytes): Buffer {
  return ripemd160(sha256(data));
}
