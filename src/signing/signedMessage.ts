/**
 * Messages signed with the key of an address: a signature has 65 bytes, and the public key can be recovered from it.
 * Source: lbrycrd validation.cpp `strMessageMagic`; Core rpc/misc.cpp `signmessagewithprivkey`, `verifymessage`.
 */
import { createHash } from 'node:crypto';
import { ecdsaBackend, recoverPublicKey, signRecoverable } from '../crypto/ecdsa.js';
import { COMPRESSED_KEY_SIZE } from '../crypto/ecdsaEncoding.js';
import { hash160, sha256 } from '../crypto/hash.js';
import { equalBytes, type Bytes } from '../util/bytes.js';
import { AT_ONCE_SIZE, type Slices } from '../util/slices.js';
import { Writer } from '../util/writer.js';
import type { SigningKey } from './signingProvider.js';

/** Text that is hashed before every signed message, so that a signed message can never be a valid transaction. */
const MAGIC = Buffer.from('LBRYcrd Signed Message:\n');

/** Yields pieces of a text, so that a long text is not encoded at once. Surrogate pairs are not split. */
function* pieces(text: string): Generator<string, void, undefined> {
  for (let at = 0; at < text.length;) {
    const last = text.charCodeAt(at + AT_ONCE_SIZE - 1);
    const end = at + AT_ONCE_SIZE - (last >= 0xd800 && last < 0xdc00 ? 1 : 0);
    yield text.slice(at, end);
    at = end;
  }
}

/** Hash that is signed for a message. The message is encoded as UTF-8. */
export function* messageHash(message: string): Slices<Buffer> {
  let sizeBytes = 0;
  for (const piece of pieces(message)) {
    sizeBytes += Buffer.byteLength(piece);
    yield;
  }
  const head = new Writer(MAGIC.length + 10).varBytes(MAGIC).compactSize(sizeBytes).finish();
  const hash = createHash('sha256').update(head);
  for (const piece of pieces(message)) {
    hash.update(piece, 'utf8');
    yield;
  }
  return sha256(hash.digest());
}

export function* signMessage(message: string, key: SigningKey): Slices<Buffer> {
  const compressed = key.publicKey.length === COMPRESSED_KEY_SIZE;
  return signRecoverable(yield* messageHash(message), key.privateKey, compressed, ecdsaBackend());
}

/** Whether the key with this id (HASH160 of the public key) signed the message. `signature` may be any bytes. */
export function* verifyMessage(message: string, signature: Bytes, keyId: Bytes): Slices<boolean> {
  const publicKey = recoverPublicKey(yield* messageHash(message), signature, ecdsaBackend());
  return publicKey !== null && equalBytes(hash160(publicKey), keyId);
}
