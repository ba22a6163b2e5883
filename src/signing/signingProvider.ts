/**
 * Interface of a source of keys and scripts for signing. It is implemented by a wallet, by a list of keys from the caller,
 * and by an empty source. Ids are the HASH160 of a public key or of a script, 20 bytes. Source: Core 0.17 script/sign.h
 * `SigningProvider`, keystore.cpp `CBasicKeyStore`.
 */
import { COMPRESSED_KEY_SIZE, isValidPrivateKey } from '../crypto/ecdsaEncoding.js';
import { hash160 } from '../crypto/hash.js';
import { MAX_SCRIPT_ELEMENT_SIZE } from '../script/script.js';
import { scriptForDestination } from '../script/standard.js';
import { assert } from '../util/assert.js';
import { toLatin1, type Bytes } from '../util/bytes.js';
import { ecdsaBackend } from '../crypto/ecdsa.js';

/** A private key and its public key, in compressed or uncompressed form (33 or 65 bytes). */
export interface SigningKey {
  readonly privateKey: Bytes;
  readonly publicKey: Bytes;
}

/** Access to keys and scripts. Results must not be modified. Null means that a key or script is unknown. */
export interface SigningProvider {
  /** Redeem script or witness script with this id. The id of a witness script is the RIPEMD160 of the witness program. */
  script(scriptId: Bytes): Bytes | null;
  publicKey(keyId: Bytes): Bytes | null;
  signingKey(keyId: Bytes): SigningKey | null;
}

/** A provider without keys. With it, only inputs that already have all signatures can be completed. */
export const NO_KEYS: SigningProvider = {
  script: () => null,
  publicKey: () => null,
  signingKey: () => null,
};

/** Wraps a provider so that private keys are hidden. Scripts and public keys can still be found, but nothing can be signed. */
export function publicOnly(provider: SigningProvider): SigningProvider {
  return {
    script: (scriptId) => provider.script(scriptId),
    publicKey: (keyId) => provider.publicKey(keyId),
    signingKey: () => null,
  };
}

/** Creates a signing key from a valid private key of 32 bytes. `compressed` selects the form of the public key. */
export function signingKeyOf(privateKey: Bytes, compressed: boolean): SigningKey {
  assert(isValidPrivateKey(privateKey), 'a private key in range');
  return { privateKey, publicKey: ecdsaBackend().publicKeyOf(privateKey, compressed) };
}

/** Store of keys and scripts in memory. */
export class MemoryKeyStore implements SigningProvider {
  private readonly keys = new Map<string, SigningKey>();
  private readonly scripts = new Map<string, Bytes>();

  /** Adds a key. The P2WPKH program of the key is added as a script, so that P2SH-P2WPKH outputs can be signed. */
  addKey(key: SigningKey): void {
    const keyId = hash160(key.publicKey);
    this.keys.set(toLatin1(keyId), key);
    if (key.publicKey.length === COMPRESSED_KEY_SIZE) {
      this.setScript(scriptForDestination({ type: 'witness_v0_keyhash', hash: keyId }));
    }
  }

  /** Adds a script. Returns false, without adding the script, if it is too long to be pushed on the stack. */
  addScript(script: Bytes): boolean {
    if (script.length > MAX_SCRIPT_ELEMENT_SIZE) return false;
    this.setScript(script);
    return true;
  }

  script(scriptId: Bytes): Bytes | null {
    return this.scripts.get(toLatin1(scriptId)) ?? null;
  }

  publicKey(keyId: Bytes): Bytes | null {
    return this.signingKey(keyId)?.publicKey ?? null;
  }

  signingKey(keyId: Bytes): SigningKey | null {
    return this.keys.get(toLatin1(keyId)) ?? null;
  }

  private setScript(script: Bytes): void {
    this.scripts.set(toLatin1(hash160(script)), script);
  }
}
