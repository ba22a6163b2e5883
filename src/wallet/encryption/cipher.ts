/**
 * AES-256-CBC with PKCS#7 padding, as used by wallets of the reference to encrypt their keys. Source: lbrycrd
 * wallet/crypter.cpp.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { sha256d } from '../../crypto/hash.js';
import type { Bytes } from '../../util/bytes.js';

export const KEY_BYTES = 32;
export const IV_BYTES = 16;
const ALGORITHM = 'aes-256-cbc';

export function encrypt(plain: Bytes, key: Bytes, iv: Bytes): Buffer {
  const cipher = createCipheriv(ALGORITHM, key, iv);
  return Buffer.concat([cipher.update(plain), cipher.final()]);
}

/** Decrypts bytes. Null if the padding is invalid, which means that the key or the bytes are wrong. */
export function decrypt(encrypted: Bytes, key: Bytes, iv: Bytes): Buffer | null {
  if (encrypted.length === 0 || encrypted.length % IV_BYTES !== 0) return null;
  const cipher = createDecipheriv(ALGORITHM, key, iv);
  const start = cipher.update(encrypted);
  let end: Buffer;
  try {
    end = cipher.final();
  } catch {
    start.fill(0);
    return null;
  }
  const plain = Buffer.concat([start, end]);
  start.fill(0);
  end.fill(0);
  return plain;
}

/** Initialization vector of a private key: the first bytes of the double hash of its public key. */
const ivOf = (publicKey: Bytes): Buffer => sha256d(publicKey).subarray(0, IV_BYTES);

/** Encrypts a private key in the form in which it is stored. */
export function encryptSecret(secret: Bytes, publicKey: Bytes, masterKey: Bytes): Buffer {
  return encrypt(secret, masterKey, ivOf(publicKey));
}

/**
 * Decrypts a private key of 32 bytes; null for another length. The key is not checked against the public key. The caller
 * must wipe the result.
 */
export function decryptSecret(encrypted: Bytes, publicKey: Bytes, masterKey: Bytes): Buffer | null {
  const secret = decrypt(encrypted, masterKey, ivOf(publicKey));
  if (secret === null || secret.length === KEY_BYTES) return secret;
  secret.fill(0);
  return null;
}
