/** Interfaces of ECDSA over secp256k1 that a backend implements. `ecdsa.ts` chooses the backend. */
import type { Bytes } from '../util/bytes.js';

export interface RecoverableSignature {
  /** R and S, big-endian, 32 bytes each. S is low. */
  compact: Bytes;
  /** 0 to 3. */
  recoveryId: number;
}

/** The verification operation that scripts need. `hash` has 32 bytes; the signature has no hash type byte. */
export interface SignatureVerifier {
  /**
   * Verifies a signature as Core's `CPubKey::Verify` does: hybrid keys, lenient DER and high S are accepted. Returns false
   * if the bytes of the signature or the key cannot be parsed.
   */
  verify(hash: Bytes, derSignature: Bytes, publicKey: Bytes): boolean;
}

/**
 * Curve arithmetic behind the functions of `ecdsa.ts`. Input buffers are neither retained nor modified; results are new
 * buffers.
 */
export interface EcdsaBackend extends SignatureVerifier {
  /** Name of the implementation, for log lines. */
  readonly name: string;
  /** Whether the key parses as a point (`CPubKey::IsFullyValid`); any bytes are allowed. */
  isFullyValidPublicKey(publicKey: Bytes): boolean;
  /** Public key of a valid private key: 33 bytes if `compressed`, else 65. */
  publicKeyOf(privateKey: Bytes, compressed: boolean): Buffer;
  /** Converts a key to compressed or uncompressed form; null if the key is not a point of the curve. */
  convertPublicKey(publicKey: Bytes, compressed: boolean): Buffer | null;
  /** Signs with an RFC 6979 nonce and a low S. `extraEntropy`, if present, has 32 bytes. */
  sign(hash: Bytes, privateKey: Bytes, extraEntropy: Bytes | null): RecoverableSignature;
  /** Recovers the public key of a signature. Null if no key can have created the signature. */
  recover(hash: Bytes, compact: Bytes, recoveryId: number, compressed: boolean): Buffer | null;
  /** Private key plus tweak, modulo the group order. Null if the tweak or the sum is out of range (BIP32). */
  tweakPrivateKey(privateKey: Bytes, tweak: Bytes): Buffer | null;
  /**
   * Public key plus tweak times the generator, compressed. Null if the tweak or the result is out of range. The key must be
   * fully valid.
   */
  tweakPublicKey(publicKey: Bytes, tweak: Bytes): Buffer | null;
}
