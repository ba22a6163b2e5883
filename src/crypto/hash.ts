/**
 * Hash functions of the chain, synchronous. OpenSSL (node:crypto) computes the hashes, except that the addon, if loaded,
 * computes the double SHA-256 and Hash160 of small inputs. Differential tests compare the results with @noble/hashes.
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

/** SHA-256 of a text in UTF-8. The result is a string with one character for each byte. */
export const sha256OfText: (text: string) => string =
  typeof nodeCrypto.hash === 'function'
    ? (text) => nodeCrypto.hash('sha256', text, 'binary')
    : (text) => createHash('sha256').update(text).digest('binary');

/**
 * Maximum size of data that the addon hashes. Larger data goes to OpenSSL, which has fast code for more processors.
 * Arbitrary: for smaller data most of the time is spent on the call.
 */
const SMALL_BYTES = 4096;
/** Buffer to which the addon writes a hash. Allocating a buffer for each hash would take longer than hashing. */
const written = Buffer.alloc(32);

/** Returns the double SHA-256 of the data, 32 bytes in wire order. */
export function sha256d(data: Bytes): Buffer {
  const native = data.length <= SMALL_BYTES ? loadNative() : null;
  if (native === null) return sha256dFallback(data);
  native.sha256d(data, written);
  return Buffer.from(written);
}

/** Computes the double SHA-256 by OpenSSL only, without the addon. */
export function sha256dFallback(data: Bytes): Buffer {
  return sha256(sha256(data));
}

/** Buffer for two adjacent hashes, which are hashed in every step of a hash tree. */
const pair = Buffer.alloc(64);
/** Buffer for two other small byte arrays. */
const joined = Buffer.alloc(SMALL_BYTES);

/** Double SHA-256 of two concatenated byte arrays. Long arrays are not copied. */
export function sha256dPair(left: Bytes, right: Bytes): Buffer {
  const length = left.length + right.length;
  if (length > SMALL_BYTES) return sha256(createHash('sha256').update(left).update(right).digest());
  const message = length === pair.length ? pair : joined.subarray(0, length);
  message.set(left);
  message.set(right, left.length);
  return sha256d(message);
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

/** Hash160: RIPEMD-160 of the SHA-256 of the data, 20 bytes. */
export function hash160(data: Bytes): Buffer {
  const native = data.length <= SMALL_BYTES ? loadNative() : null;
  return native ? native.hash160(data) : hash160Fallback(data);
}

/** Computes Hash160 by OpenSSL only, without the addon. */
export function hash160Fallback(data: Bytes): Buffer {
  return ripemd160(sha256(data));
}
