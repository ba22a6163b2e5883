/**
 * Keys offline: private keys as text (wallet import format), their addresses, and hierarchical keys (BIP32), including those
 * that the node's wallets derive from a seed. Sends no requests to a node. Source: Core 0.17 key_io.cpp, BIP32.
 */
import { randomBytes } from 'node:crypto';
import { isValidPrivateKey } from '../crypto/ecdsaEncoding.js';
import type { NetworkName } from '../params/network.js';
import { encodeDestination } from '../script/address.js';
import { decodeBase58Check, encodeBase58Check } from '../script/base58.js';
import { decodeSecret, encodeSecret, type DecodedSecret } from '../script/wif.js';
import { ecdsaBackend } from '../crypto/ecdsa.js';
import {
  deriveChild,
  EXTENDED_KEY_SIZE,
  formatExtendedKey,
  HARDENED,
  parseExtendedKey,
  rootOfSeed,
  type ExtendedKey,
} from '../signing/extendedKey.js';
import { destinationForKey, type OutputType } from '../signing/outputType.js';
import { toHex } from '../util/bytes.js';
import { networkPrefixes } from './claimOutputs.js';

export type { OutputType } from '../signing/outputType.js';

export interface KeyPair {
  /** Private key in wallet import format, for `signTransaction` and `importprivkey`. */
  readonly privateKey: string;
  /** Public key in hex. */
  readonly publicKey: string;
}

const PREFIX_BYTES = 4;
const SECRET_BYTES = 32;

/** Creates a random key. It is stored nowhere except in the returned text. */
export function makeKey(network: NetworkName): KeyPair {
  for (;;) {
    const secret = randomBytes(32);
    if (isValidPrivateKey(secret)) return keyPair(secret, true, network);
  }
}

/**
 * Returns the key with these 32 bytes as private key. Throws `RangeError` if the bytes are not a valid private key. Pass
 * `compressed: false` for an old uncompressed key, whose addresses differ.
 */
export function keyOfSecret(secret: Uint8Array, network: NetworkName, { compressed = true } = {}): KeyPair {
  if (secret.length !== SECRET_BYTES || !isValidPrivateKey(secret))
    throw new RangeError('the bytes are not a valid private key');
  return keyPair(secret, compressed, network);
}

/** Returns the 32 bytes of a private key, and whether its public key is compressed. Throws `RangeError` like `publicKeyOf`. */
export function secretOf(
  privateKey: string,
  network: NetworkName,
): { readonly secret: Uint8Array; readonly compressed: boolean } {
  const { privateKey: secret, compressed } = decoded(privateKey, network);
  return { secret, compressed };
}

function decoded(privateKey: string, network: NetworkName): DecodedSecret {
  const secret = decodeSecret(privateKey, networkPrefixes(network));
  if (secret === null) throw new RangeError('the private key is invalid or belongs to another network');
  return secret;
}

function keyPair(secret: Uint8Array, compressed: boolean, network: NetworkName): KeyPair {
  return {
    privateKey: encodeSecret(secret, compressed, networkPrefixes(network)),
    publicKey: toHex(ecdsaBackend().publicKeyOf(secret, compressed)),
  };
}

/** Computes the public key of a private key. Throws `RangeError` if the text is not a private key of the network. */
export function publicKeyOf(privateKey: string, network: NetworkName): string {
  const secret = decoded(privateKey, network);
  return toHex(ecdsaBackend().publicKeyOf(secret.privateKey, secret.compressed));
}

/**
 * Computes the address of a public key in hex. An uncompressed key has only a legacy address. Throws `RangeError` for an
 * invalid key.
 */
export function addressOfKey(
  publicKey: string,
  network: NetworkName,
  type: OutputType = 'p2sh-segwit',
): string {
  const bytes = Buffer.from(publicKey, 'hex');
  if (bytes.length * 2 !== publicKey.length || !ecdsaBackend().isFullyValidPublicKey(bytes))
    throw new RangeError('the public key is invalid');
  return encodeDestination(destinationForKey(bytes, type), networkPrefixes(network));
}

/** Derives the extended private key at the root of a seed. A seed usually has 16 to 64 bytes. */
export function extendedKeyOfSeed(seed: Uint8Array, network: NetworkName): string {
  return extendedText(rootOfSeed(seed), network, true);
}

/**
 * Returns the root key of a node wallet, from the wallet's seed as `dumpwallet` shows it (see `sethdseed`). The keys of the
 * wallet's addresses are at `m/0'/0'/k'`, the keys for change at `m/0'/1'/k'`.
 */
export function extendedKeyOfWalletSeed(privateKey: string, network: NetworkName): string {
  const secret = decodeSecret(privateKey, networkPrefixes(network));
  if (secret === null) throw new RangeError('the seed is invalid or belongs to another network');
  return extendedKeyOfSeed(secret.privateKey, network);
}

/**
 * Derives the key at a path below another key, such as `m/0'/0'/7'`. Throws `RangeError` for an invalid path or key, and for
 * a hardened number below a public key.
 */
export function deriveExtendedKey(extendedKey: string, path: string, network: NetworkName): string {
  const from = readExtended(extendedKey, network);
  let key: ExtendedKey = from;
  for (const step of stepsOf(path)) {
    const next = deriveChild(key, step);
    if (next === null)
      throw new RangeError('this key cannot be derived: hardened steps require a private key');
    key = next;
  }
  return extendedText(key, network, from.privateKey !== null);
}

/** Removes the private part of an extended key. Returns the extended public key. */
export function publicExtendedKey(extendedKey: string, network: NetworkName): string {
  return extendedText(readExtended(extendedKey, network), network, false);
}

/** Key pair of an extended key; without the private key if the extended key is public. */
export function keyOfExtended(
  extendedKey: string,
  network: NetworkName,
): { readonly privateKey: string | null; readonly publicKey: string } {
  const { privateKey, publicKey } = readExtended(extendedKey, network);
  return privateKey === null
    ? { privateKey: null, publicKey: toHex(publicKey) }
    : keyPair(privateKey, true, network);
}

function extendedText(key: ExtendedKey, network: NetworkName, isPrivate: boolean): string {
  const { extSecret, extPublic } = networkPrefixes(network);
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(isPrivate ? extSecret : extPublic);
  return encodeBase58Check(Buffer.concat([prefix, formatExtendedKey(key, isPrivate)]));
}

function readExtended(text: string, network: NetworkName): ExtendedKey {
  const { extSecret, extPublic } = networkPrefixes(network);
  const payload = decodeBase58Check(text);
  const prefix = payload?.length === PREFIX_BYTES + EXTENDED_KEY_SIZE ? payload.readUInt32BE(0) : null;
  const isKnown = prefix === extSecret || prefix === extPublic;
  const key = isKnown ? parseExtendedKey(payload!.subarray(PREFIX_BYTES), prefix === extSecret) : null;
  if (key === null) throw new RangeError('the extended key is invalid or belongs to another network');
  return key;
}

function stepsOf(path: string): number[] {
  const steps = path.split('/').filter((step, i) => step !== '' && !(i === 0 && step === 'm'));
  return steps.map((step) => {
    const match = /^(\d{1,10})(['h]?)$/.exec(step);
    const number = match === null ? HARDENED : Number(match[1]);
    if (number >= HARDENED) throw new RangeError(`invalid step of a derivation path: ${step}`);
    return match![2] === '' ? number : HARDENED + number;
  });
}
