/**
 * Hierarchical keys (BIP32): their serialization in 74 bytes, and the derivation of child keys. The caller handles base58
 * texts and network prefixes. Source: Core 0.17 key.cpp `CExtKey`, pubkey.cpp `CExtPubKey`.
 */
import { createHmac } from 'node:crypto';
import { isValidPrivateKey, PRIVATE_KEY_SIZE } from '../crypto/ecdsaEncoding.js';
import { hash160 } from '../crypto/hash.js';
import type { Bytes } from '../util/bytes.js';
import { ecdsaBackend } from '../crypto/ecdsa.js';

/** Size in bytes of a serialized key, without its network prefix. */
export const EXTENDED_KEY_SIZE = 74;
/** Bit that is set in the number of a hardened child key. Only the private key can derive hardened children. */
export const HARDENED = 0x80000000;

export interface ExtendedKey {
  depth: number;
  /** First four bytes of the parent's key hash (HASH160); zeros for a root key. */
  parentFingerprint: Bytes;
  /** Number of this key among the children of its parent, as an unsigned 32-bit number. */
  childNumber: number;
  chainCode: Bytes;
  /** 33 bytes. */
  publicKey: Bytes;
  /** The private key; null if only the public key is known. */
  privateKey: Bytes | null;
}

/** Parses a serialized key without its network prefix; null if the key is invalid. */
export function parseExtendedKey(bytes: Bytes, isPrivate: boolean): ExtendedKey | null {
  if (bytes.length !== EXTENDED_KEY_SIZE) return null;
  const view = Buffer.from(bytes);
  const head = {
    depth: view[0]!,
    parentFingerprint: view.subarray(1, 5),
    childNumber: view.readUInt32BE(5),
    chainCode: view.subarray(9, 41),
  };
  if (isPrivate) {
    const privateKey = view.subarray(42, 42 + PRIVATE_KEY_SIZE);
    if (!isValidPrivateKey(privateKey)) return null;
    return { ...head, publicKey: ecdsaBackend().publicKeyOf(privateKey, true), privateKey };
  }
  const publicKey = view.subarray(41, EXTENDED_KEY_SIZE);
  return ecdsaBackend().isFullyValidPublicKey(publicKey) ? { ...head, publicKey, privateKey: null } : null;
}

const ROOT_SECRET = 'Bitcoin seed';

/** Derives the extended private key at the root of a seed. */
export function rootOfSeed(seed: Bytes): ExtendedKey {
  const digest = createHmac('sha512', ROOT_SECRET).update(seed).digest();
  const privateKey = digest.subarray(0, 32);
  return {
    depth: 0,
    parentFingerprint: Buffer.alloc(4),
    childNumber: 0,
    chainCode: digest.subarray(32),
    publicKey: ecdsaBackend().publicKeyOf(privateKey, true),
    privateKey,
  };
}

/** Serializes a key without its network prefix. With `isPrivate` the private key must be known. */
export function formatExtendedKey(key: ExtendedKey, isPrivate: boolean): Buffer {
  const bytes = Buffer.alloc(EXTENDED_KEY_SIZE);
  bytes[0] = key.depth;
  bytes.set(key.parentFingerprint, 1);
  bytes.writeUInt32BE(key.childNumber, 5);
  bytes.set(key.chainCode, 9);
  if (!isPrivate) bytes.set(key.publicKey, 41);
  else if (key.privateKey !== null) bytes.set(key.privateKey, 42);
  return bytes;
}

/**
 * Derives the child key with number `childNumber`. Null if a hardened child is requested without the private key, or if the
 * number has no valid child (probability 2^-127).
 */
export function deriveChild(parent: ExtendedKey, childNumber: number): ExtendedKey | null {
  const isHardened = childNumber >= HARDENED;
  if (isHardened && parent.privateKey === null) return null;
  const data = Buffer.alloc(37);
  if (isHardened) data.set(parent.privateKey!, 1);
  else data.set(parent.publicKey);
  data.writeUInt32BE(childNumber, 33);
  const digest = createHmac('sha512', parent.chainCode).update(data).digest();
  const tweak = digest.subarray(0, 32);
  const head = {
    depth: (parent.depth + 1) & 0xff,
    parentFingerprint: hash160(parent.publicKey).subarray(0, 4),
    childNumber,
    chainCode: digest.subarray(32),
  };
  if (parent.privateKey === null) {
    const publicKey = ecdsaBackend().tweakPublicKey(parent.publicKey, tweak);
    return publicKey && { ...head, publicKey, privateKey: null };
  }
  const privateKey = ecdsaBackend().tweakPrivateKey(parent.privateKey, tweak);
  return privateKey && { ...head, publicKey: ecdsaBackend().publicKeyOf(privateKey, true), privateKey };
}
