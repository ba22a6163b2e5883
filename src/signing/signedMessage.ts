/**
 * Messages signed with the key of an address: 65 bytes from which the key can be recovered.
 * Source: lbrycrd validation.cpp `strMessageMagic`; Core rpc/misc.cpp `signmessagewithprivkey`, `verifymessage`.
 */
import { recoverPublicKey, signRecoverable } from '../crypto/ecdsa.js';
import { COMPRESSED_KEY_SIZE } from '../crypto/ecdsaEncoding.js';
import { hash160, sha256d } from '../crypto/hash.js';
import { equalBytes, type Bytes } from '../util/bytes.js';
import { Writer } from '../util/writer.js';
import { ecdsaBackend } from './ecdsaBackend.js';
import type { SigningKey } from './signingProvider.js';

/** In front of every message, so that none is a transaction. */
const MAGIC = Buffer.from('LBRYcrd Signed Message:\n');

/** What is signed; the message counts as UTF-8. */
export function messageHash(message: string): Buffer {
  const text = Buffer.from(message);
  return sha256d(new Writer(MAGIC.length + text.length + 10).varBytes(MAGIC).varBytes(text).finish());
}

export function signMessage(message: string, key: SigningKey): Buffer {
  const compressed = key.publicKey.length === COMPRESSED_KEY_SIZE;
  return signRecoverable(messageHash(message), key.privateKey, compressed, ecdsaBackend());
}

/** Whether the key of that id (HASH160 of the public key) signed the message. Any bytes are allowed as signature. */
export function verifyMessage(message: string, signature: Bytes, keyId: Bytes): boolean {
  const publicKey = recoverPublicKey(messageHash(message), signature, ecdsaBackend());
  return publicKey !== null && equalBytes(hash160(publicKey), keyId);
}
