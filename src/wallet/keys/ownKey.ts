/** The in-memory form of a wallet's key pair. */
import { COMPRESSED_KEY_SIZE, isValidPrivateKey } from '../../crypto/ecdsaEncoding.js';
import { ecdsaBackend } from '../../crypto/ecdsa.js';
import { equalBytes, type Bytes } from '../../util/bytes.js';
import type { Slab } from '../../util/slab.js';
import { decryptSecret } from '../encryption/cipher.js';

/**
 * A public key and its private key, adjacent in one buffer. Many keys share a buffer, because a wallet may have a hundred
 * thousand keys.
 */
export class OwnKey {
  private readonly piece: Buffer;
  private readonly at: number;
  private readonly publicBytes: number;
  private readonly secretBytes: number;

  constructor(slab: Slab, publicKey: Bytes, secret: Bytes) {
    this.at = slab.put(publicKey, secret);
    this.piece = slab.piece;
    this.publicBytes = publicKey.length;
    this.secretBytes = secret.length;
  }

  get publicKey(): Buffer {
    return this.piece.subarray(this.at, this.at + this.publicBytes);
  }

  /** The private key: 32 bytes if unencrypted, otherwise the result of `encryptSecret`. */
  get secret(): Buffer {
    const at = this.at + this.publicBytes;
    return this.piece.subarray(at, at + this.secretBytes);
  }

  /** Whether the private key is unencrypted. */
  get isClear(): boolean {
    return this.secretBytes === 32;
  }
}

/** Whether `masterKey` decrypts the private key to a key that matches the public key. */
export function opensKey({ publicKey, secret }: OwnKey, masterKey: Bytes): boolean {
  const clear = decryptSecret(secret, publicKey, masterKey);
  if (clear === null) return false;
  const fits =
    isValidPrivateKey(clear) &&
    equalBytes(ecdsaBackend().publicKeyOf(clear, publicKey.length === COMPRESSED_KEY_SIZE), publicKey);
  clear.fill(0);
  return fits;
}
