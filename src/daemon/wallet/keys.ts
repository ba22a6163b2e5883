/**
 * Keys of accounts: text forms, addresses, and the chains below the root key. The chains are non-hardened children of the
 * root key. Source: lbry-sdk lbry/wallet/bip32.py `PrivateKey`, `PublicKey`, `KeyPath`.
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

/** Child numbers of the chains below an account's root key. */
export const KEY_CHAIN = { receiving: 0, change: 1, channel: 2 } as const;

export type KeyChain = (typeof KEY_CHAIN)[keyof typeof KEY_CHAIN];

const PREFIX_SIZE = 4;

/**
 * Text of an extended key: of the private key if `isPrivate` (the private key must be known), otherwise of the public key.
 */
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
 * Parses an extended key. The fingerprint of the parent is set to zero, as in the reference, because wallets are compared by
 * key texts without a fingerprint. Throws `ValueError`.
 */
export function parseExtendedKeyText(text: string, { id, addressPrefixes }: LedgerParams): ExtendedKey {
  const bytes = decodeBase58Check(text);
  if (bytes === null) throw badValue('invalid base 58 checksum');
  if (bytes.length !== PREFIX_SIZE + EXTENDED_KEY_SIZE) throw badValue('extended key must have length 78');
  const version = bytes.readUInt32BE(0);
  const isPrivate = version === addressPrefixes.extSecret;
  if (!isPrivate && version !== addressPrefixes.extPublic)
    throw badValue(
      `version bytes unrecognised: '${text.slice(0, PREFIX_SIZE)}…' is not an extended key of ${id}`,
    );
  const key = parseExtendedKey(bytes.subarray(PREFIX_SIZE), isPrivate);
  if (key === null) throw badValue('invalid extended key');
  return { ...key, parentFingerprint: Buffer.alloc(4) };
}

/** Derives the child key with the number. Throws if the child key does not exist, which has a probability of 2^-127. */
export function childKey(parent: ExtendedKey, childNumber: number): ExtendedKey {
  const child = deriveChild(parent, childNumber);
  if (child === null) throw badValue('the key has no such child');
  return child;
}

/** Returns the P2WPKH address (BIP84) of a compressed public key. */
export function witnessAddressOfKey(publicKey: Bytes, { addressPrefixes }: LedgerParams): string {
  return encodeDestination({ type: 'witness_v0_keyhash', hash: hash160(publicKey) }, addressPrefixes);
}

/** Returns the P2PKH address of a compressed public key. */
export function addressOfKey(publicKey: Bytes, { addressPrefixes }: LedgerParams): string {
  return encodeDestination({ type: 'pubkeyhash', hash: hash160(publicKey) }, addressPrefixes);
}

/**
 * Signs a 32-byte digest. The signature has 64 bytes (R and S), the nonce of RFC 6979 and a low S. R may be high.
 */
export function signCompact(digest: Bytes, privateKey: Bytes): Buffer {
  return Buffer.from(ecdsaBackend().sign(digest, privateKey, null).compact);
}

/** DER signature over the double SHA-256 of `message`. R may be high. */
export function signDoubleHashed(message: Bytes, privateKey: Bytes): Buffer {
  return signHash(sha256d(message), privateKey, false, ecdsaBackend());
}
