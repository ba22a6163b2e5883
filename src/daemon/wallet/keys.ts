/**
 * Keys of accounts: their texts, their addresses, and the chains below the root of an account. Nothing is hardened and
 * no purpose stands above the chains. Source: lbry-sdk lbry/wallet/bip32.py `PrivateKey`, `PublicKey`, `KeyPath`.
 */
import { ecdsaBackend, signHash } from '../../crypto/ecdsa.js';
import { hash160, sha256d } from '../../crypto/hash.js';
import { decodeBase58Check, encodeBase58Check } from '../../script/base58.js';
import { encodeDestination } from '../../script/address.js';
import {
  deriveChild,
  EXTENDED_KEY_SIZE,
  formatExtendedKey,
  parseExtendedKey,
  type ExtendedKey,
} from '../../signing/extendedKey.js';
import type { Bytes } from '../../util/bytes.js';
import { badValue } from '../base/daemonError.js';
import type { LedgerParams } from '../base/ledgerParams.js';

/** Numbers of the chains of an account's root. */
export const KEY_CHAIN = { receiving: 0, change: 1, channel: 2 } as const;

export type KeyChain = (typeof KEY_CHAIN)[keyof typeof KEY_CHAIN];

const PREFIX_SIZE = 4;

/** The extended key as text; the private one where `isPrivate`, which must be known then. */
export function extendedKeyText(
  key: ExtendedKey,
  isPrivate: boolean,
  { addressPrefixes }: LedgerParams,
): string {
  const prefix = Buffer.alloc(PREFIX_SIZE);
  prefix.writeUInt32BE(isPrivate ? addressPrefixes.extSecret : addressPrefixes.extPublic);
  return encodeBase58Check(Buffer.concat([prefix, formatExtendedKey(key, isPrivate)]));
}

/**
 * Reads an extended key. The parent's fingerprint is forgotten, as the reference does: wallets are compared by texts that
 * are written without it. Throws `ValueError`.
 */
export function parseExtendedKeyText(text: string, { addressPrefixes }: LedgerParams): ExtendedKey {
  const bytes = decodeBase58Check(text);
  if (bytes === null) throw badValue('invalid base 58 checksum');
  if (bytes.length !== PREFIX_SIZE + EXTENDED_KEY_SIZE) throw badValue('extended key must have length 78');
  const version = bytes.readUInt32BE(0);
  const isPrivate = version === addressPrefixes.extSecret;
  if (!isPrivate && version !== addressPrefixes.extPublic) throw badValue('version bytes unrecognised');
  const key = parseExtendedKey(bytes.subarray(PREFIX_SIZE), isPrivate);
  if (key === null) throw badValue('invalid extended key');
  return { ...key, parentFingerprint: Buffer.alloc(4) };
}

/** The child of that number. Throws where there is none, which happens for one in 2^127. */
export function childKey(parent: ExtendedKey, childNumber: number): ExtendedKey {
  const child = deriveChild(parent, childNumber);
  if (child === null) throw badValue('the key has no such child');
  return child;
}

/** The address of a compressed public key whose outputs are witness programs (BIP84). */
export function witnessAddressOfKey(publicKey: Bytes, { addressPrefixes }: LedgerParams): string {
  return encodeDestination({ type: 'witness_v0_keyhash', hash: hash160(publicKey) }, addressPrefixes);
}

/** The P2PKH address of a compressed public key. */
export function addressOfKey(publicKey: Bytes, { addressPrefixes }: LedgerParams): string {
  return encodeDestination({ type: 'pubkeyhash', hash: hash160(publicKey) }, addressPrefixes);
}

/** 64 bytes, R and S, over a 32-byte digest: the nonce of RFC 6979, low S, no grinding. */
export function signCompact(digest: Bytes, privateKey: Bytes): Buffer {
  return Buffer.from(ecdsaBackend().sign(digest, privateKey, null).compact);
}

/** A DER signature over the double SHA-256 of `message`, without grinding. */
export function signDoubleHashed(message: Bytes, privateKey: Bytes): Buffer {
  return signHash(sha256d(message), privateKey, false, ecdsaBackend());
}
