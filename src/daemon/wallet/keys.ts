/**
 * Keys of accounts: text forms, addresses, and the chains below the root key. The chains are not hardened and directly below
 * the root. Source: lbry-sdk lbry/wallet/bip32.py `PrivateKey`, `PublicKey`, `KeyPath`.
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

/** Text of the extended key; of the private one if `isPrivate`, which must be known then. */
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
 * Parses an extended key. Drops the parent's fingerprint, as in the reference, because wallets are compared by texts without
 * it. Throws `ValueError`.
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

/** Child key of that number. Throws if it does not exist, which has a probability of 2^-127. */
export function childKey(parent: ExtendedKey, childNumber: number): ExtendedKey {
  const child = deriveChild(parent, childNumber);
  if (child === null) throw badValue('the key has no such child');
  return child;
}

/** P2WPKH address (BIP84) of a compressed public key. */
export function witnessAddressOfKey(publicKey: Bytes, { addressPrefixes }: LedgerParams): string {
  return encodeDestination({ type: 'witness_v0_keyhash', hash: hash160(publicKey) }, addressPrefixes);
}

/** The P2PKH address of a compressed public key. */
export function addressOfKey(publicKey: Bytes, { addressPrefixes }: LedgerParams): string {
  return encodeDestination({ type: 'pubkeyhash', hash: hash160(publicKey) }, addressPrefixes);
}

/** Signature of a 32-byte digest as 64 bytes, R and S, with the nonce of RFC 6979 and low S, without grinding. */
export function signCompact(digest: Bytes, privateKey: Bytes): Buffer {
  return Buffer.from(ecdsaBackend().sign(digest, privateKey, null).compact);
}

/** A DER signature over the double SHA-256 of `message`, without grinding. */
export function signDoubleHashed(message: Bytes, privateKey: Bytes): Buffer {
  return signHash(sha256d(message), privateKey, false, ecdsaBackend());
}
