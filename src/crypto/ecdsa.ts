/**
 * ECDSA over secp256k1 as the chain uses it: verifying as Core's CPubKey, signing as its CKey.
 * Has the interface of the backends, the choice between them, and what is the same for both. It does not know scripts,
 * addresses or wallets.
 * Source: Core 0.17 pubkey.cpp, key.cpp.
 */
import { randomBytes } from 'node:crypto';
import { loadNative } from '../native/binding.js';
import type { Bytes } from '../util/bytes.js';
import { assert } from '../util/assert.js';
import { COMPACT_SIGNATURE_SIZE, formatDer, isValidPrivateKey, PRIVATE_KEY_SIZE } from './ecdsaEncoding.js';
import { fallbackEcdsa } from './ecdsaFallback.js';

export interface RecoverableSignature {
  /** R and S, 32 bytes big endian each; S is low. */
  compact: Bytes;
  /** 0 to 3. */
  recoveryId: number;
}

/** The one operation that scripts need. `hash` has 32 bytes; the signature has no hash type byte. */
export interface SignatureVerifier {
  /**
   * Core's `CPubKey::Verify`: hybrid keys, lenient DER and high S are accepted. Any bytes are allowed for the
   * signature and the key; what does not parse does not verify.
   */
  verify(hash: Bytes, derSignature: Bytes, publicKey: Bytes): boolean;
}

/** Curve arithmetic behind the functions of this file. Buffers are neither kept nor changed; results are fresh. */
export interface EcdsaBackend extends SignatureVerifier {
  /** For logs: where the arithmetic comes from. */
  readonly name: string;
  /** Whether the key parses as a point (`CPubKey::IsFullyValid`); any bytes are allowed. */
  isFullyValidPublicKey(publicKey: Bytes): boolean;
  /** 33 or 65 bytes. The private key must be valid. */
  publicKeyOf(privateKey: Bytes, compressed: boolean): Buffer;
  /** The same point in the other form, or null when it is none. */
  convertPublicKey(publicKey: Bytes, compressed: boolean): Buffer | null;
  /** RFC 6979 nonce with optional 32 bytes of extra entropy; low S. */
  sign(hash: Bytes, privateKey: Bytes, extraEntropy: Bytes | null): RecoverableSignature;
  /** Null when no key can have made it. */
  recover(hash: Bytes, compact: Bytes, recoveryId: number, compressed: boolean): Buffer | null;
  /** Key plus tweak modulo the order; null when the tweak or the sum is out of range (BIP32). */
  tweakPrivateKey(privateKey: Bytes, tweak: Bytes): Buffer | null;
  /** Point plus tweak times the generator, compressed; null as above. The key must be fully valid. */
  tweakPublicKey(publicKey: Bytes, tweak: Bytes): Buffer | null;
}

/** libsecp256k1 in the addon, or @noble/secp256k1 where no addon loads. Both give the same answers. */
export function ecdsaBackend(): EcdsaBackend {
  return loadNative()?.ecdsa ?? fallbackEcdsa;
}

/** Verifies past the addon's signature cache: for signatures of blocks, which are not checked again. */
export function uncachedVerifier(): SignatureVerifier {
  const ecdsa = loadNative()?.ecdsa;
  if (ecdsa === undefined) return fallbackEcdsa;
  return {
    verify: (hash, signature, publicKey) => ecdsa.verifyMany([{ hash, signature, publicKey }])[0] === 1,
  };
}

/** 32 random bytes that are a private key. Source: `CKey::MakeNewKey`. */
export function generatePrivateKey(): Buffer {
  for (;;) {
    const key = randomBytes(PRIVATE_KEY_SIZE);
    if (isValidPrivateKey(key)) return key;
  }
}

/**
 * Deterministic DER signature without hash type byte. With `grind` (Core's default) nonces are tried, by a counter
 * as extra entropy, until R is below 2^255: 70 bytes at most, verifiable as ever. Source: `CKey::Sign`.
 */
export function signHash(
  hash: Bytes,
  privateKey: Bytes,
  grind = true,
  ecdsa: EcdsaBackend = ecdsaBackend(),
): Buffer {
  let { compact } = ecdsa.sign(hash, privateKey, null);
  const entropy = Buffer.alloc(32);
  for (let counter = 1; grind && compact[0]! >= 0x80; counter++) {
    entropy.writeUInt32LE(counter, 0);
    compact = ecdsa.sign(hash, privateKey, entropy).compact;
  }
  return formatDer(compact);
}

/** 65 bytes: 27 plus recovery id, plus 4 for a compressed key; R; S. Source: `CKey::SignCompact`. */
export function signRecoverable(
  hash: Bytes,
  privateKey: Bytes,
  compressed: boolean,
  ecdsa: EcdsaBackend = ecdsaBackend(),
): Buffer {
  const { compact, recoveryId } = ecdsa.sign(hash, privateKey, null);
  return Buffer.concat([Buffer.of(27 + recoveryId + (compressed ? 4 : 0)), compact]);
}

/** The public key that made a 65-byte signature, or null. Source: `CPubKey::RecoverCompact`. */
export function recoverPublicKey(
  hash: Bytes,
  signature: Bytes,
  ecdsa: EcdsaBackend = ecdsaBackend(),
): Buffer | null {
  assert(hash.length === 32, 'recovering from a hash that has not 32 bytes');
  if (signature.length !== COMPACT_SIGNATURE_SIZE + 1) return null;
  const header = signature[0]! - 27;
  return ecdsa.recover(hash, signature.subarray(1), header & 3, (header & 4) !== 0);
}
