/**
 * ECDSA over secp256k1 as the chain uses it: verifying as Core's CPubKey, signing as its CKey.
 * Chooses between two implementations (`ecdsaBackend.ts`) and contains the code that both share. Independent of scripts,
 * addresses and wallets. Source: Core 0.17 pubkey.cpp, key.cpp.
 */
import { randomBytes } from 'node:crypto';
import { loadNative } from '../native/binding.js';
import type { Bytes } from '../util/bytes.js';
import { assert } from '../util/assert.js';
import { COMPACT_SIGNATURE_SIZE, formatDer, isValidPrivateKey, PRIVATE_KEY_SIZE } from './ecdsaEncoding.js';
import type { EcdsaBackend, SignatureVerifier } from './ecdsaBackend.js';
import { fallbackEcdsa } from './ecdsaFallback.js';

export type { EcdsaBackend, RecoverableSignature, SignatureVerifier } from './ecdsaBackend.js';

/**
 * Returns the curve arithmetic: libsecp256k1 in the addon, or @noble/secp256k1 if no addon is loaded. Both give the same
 * results.
 */
export function ecdsaBackend(): EcdsaBackend {
  return loadNative()?.ecdsa ?? fallbackEcdsa;
}

/**
 * Returns a verifier that does not use the addon's signature cache. Meant for the scripts of blocks, because their
 * signatures are not verified again.
 */
export function uncachedVerifier(): SignatureVerifier {
  const ecdsa = loadNative()?.ecdsa;
  if (ecdsa === undefined) return fallbackEcdsa;
  return {
    verify: (hash, signature, publicKey) => ecdsa.verifyMany([{ hash, signature, publicKey }])[0] === 1,
  };
}

/** Creates 32 random bytes that are a valid private key. Source: `CKey::MakeNewKey`. */
export function generatePrivateKey(): Buffer {
  for (;;) {
    const key = randomBytes(PRIVATE_KEY_SIZE);
    if (isValidPrivateKey(key)) return key;
  }
}

/**
 * Deterministic DER signature without hash type byte. With `grind` (Core's default) a counter is added to the nonce until R
 * is below 2^255, so that the signature has at most 70 bytes. Source: `CKey::Sign`.
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

/**
 * Signature of 65 bytes from which the public key can be recovered: 27 plus recovery id, plus 4 for a compressed key; R; S.
 * Source: `CKey::SignCompact`.
 */
export function signRecoverable(
  hash: Bytes,
  privateKey: Bytes,
  compressed: boolean,
  ecdsa: EcdsaBackend = ecdsaBackend(),
): Buffer {
  const { compact, recoveryId } = ecdsa.sign(hash, privateKey, null);
  return Buffer.concat([Buffer.of(27 + recoveryId + (compressed ? 4 : 0)), compact]);
}

/** Recovers the public key from a 65-byte signature; null if this is not possible. Source: `CPubKey::RecoverCompact`. */
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
