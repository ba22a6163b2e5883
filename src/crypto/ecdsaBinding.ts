/**
 * The ECDSA backend over the prebuilt binding of the npm package `secp256k1` (libsecp256k1).
 * Only loads and adapts it; `ecdsa.ts` decides whether it is used.
 */
import { createRequire } from 'node:module';
import { assert } from '../util/assert.js';
import type { Bytes } from '../util/bytes.js';
import type { EcdsaBackend } from './ecdsa.js';
import { COMPACT_SIGNATURE_SIZE, hasPublicKeySize, normalizeS, parseDerLax } from './ecdsaEncoding.js';

/** The part of the package's interface in use. It throws `Error` with the fixed texts below on bad encodings. */
interface Secp256k1Package {
  ecdsaVerify(compact: Bytes, hash: Bytes, publicKey: Bytes): boolean;
  publicKeyVerify(publicKey: Bytes): boolean;
  publicKeyCreate(privateKey: Bytes, compressed: boolean): Uint8Array;
  publicKeyConvert(publicKey: Bytes, compressed: boolean): Uint8Array;
  ecdsaSign(
    hash: Bytes,
    privateKey: Bytes,
    options: { data?: Bytes },
  ): { signature: Uint8Array; recid: number };
  ecdsaRecover(compact: Bytes, recoveryId: number, hash: Bytes, compressed: boolean): Uint8Array;
  privateKeyTweakAdd(privateKey: Bytes, tweak: Bytes): Uint8Array;
  publicKeyTweakAdd(publicKey: Bytes, tweak: Bytes, compressed: boolean): Uint8Array;
}

const EXPECTED_FAILURES = new Set([
  'Public Key could not be parsed',
  'Signature could not be parsed',
  'Public key could not be recover',
  'The tweak was out of range or the resulted private key is invalid',
]);

/** Null instead of the package's exceptions for bad encodings; anything else is a bug and passes through. */
function orNull<T>(call: () => T): T | null {
  try {
    return call();
  } catch (error) {
    if (error instanceof Error && EXPECTED_FAILURES.has(error.message)) return null;
    throw error;
  }
}

function toBuffer(bytes: Uint8Array | null): Buffer | null {
  return bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

class BindingEcdsa implements EcdsaBackend {
  readonly name = 'secp256k1 npm binding';
  readonly #package: Secp256k1Package;
  readonly #compact = Buffer.alloc(COMPACT_SIGNATURE_SIZE);

  constructor(binding: Secp256k1Package) {
    this.#package = binding;
  }

  verify(hash: Bytes, derSignature: Bytes, publicKey: Bytes): boolean {
    assert(hash.length === 32, 'verifying a hash that has not 32 bytes');
    const compact = this.#compact;
    if (!hasPublicKeySize(publicKey) || !parseDerLax(derSignature, compact)) return false;
    normalizeS(compact);
    return orNull(() => this.#package.ecdsaVerify(compact, hash, publicKey)) ?? false;
  }

  isFullyValidPublicKey(publicKey: Bytes): boolean {
    return hasPublicKeySize(publicKey) && this.#package.publicKeyVerify(publicKey);
  }

  publicKeyOf(privateKey: Bytes, compressed: boolean): Buffer {
    return toBuffer(this.#package.publicKeyCreate(privateKey, compressed))!;
  }

  convertPublicKey(publicKey: Bytes, compressed: boolean): Buffer | null {
    if (!hasPublicKeySize(publicKey)) return null;
    return toBuffer(orNull(() => this.#package.publicKeyConvert(publicKey, compressed)));
  }

  sign(hash: Bytes, privateKey: Bytes, extraEntropy: Bytes | null): { compact: Bytes; recoveryId: number } {
    const options = extraEntropy === null ? {} : { data: extraEntropy };
    const { signature, recid } = this.#package.ecdsaSign(hash, privateKey, options);
    return { compact: signature, recoveryId: recid };
  }

  recover(hash: Bytes, compact: Bytes, recoveryId: number, compressed: boolean): Buffer | null {
    return toBuffer(orNull(() => this.#package.ecdsaRecover(compact, recoveryId, hash, compressed)));
  }

  tweakPrivateKey(privateKey: Bytes, tweak: Bytes): Buffer | null {
    return toBuffer(orNull(() => this.#package.privateKeyTweakAdd(Buffer.from(privateKey), tweak)));
  }

  tweakPublicKey(publicKey: Bytes, tweak: Bytes): Buffer | null {
    return toBuffer(orNull(() => this.#package.publicKeyTweakAdd(publicKey, tweak, true)));
  }
}

/** Null where the package has no binary for this machine. */
export function loadBindingEcdsa(): EcdsaBackend | null {
  try {
    const require = createRequire(import.meta.url);
    return new BindingEcdsa(require('secp256k1/bindings.js') as Secp256k1Package);
  } catch {
    return null;
  }
}
