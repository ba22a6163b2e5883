/**
 * Converts between addresses and destinations: base58 for key and script hashes, bech32 for witness programs.
 * Source: Core key_io.cpp, bech32.cpp (BIP13, BIP173).
 */
import { bech32 } from '@scure/base';
import { loadNative } from '../native/binding.js';
import type { NetworkParams } from '../params/network.js';
import { asBuffer, type Bytes } from '../util/bytes.js';
import { decodeBase58Check, encodeBase58Check } from './base58.js';
import type { Destination } from './standard.js';

/** Prefixes of a network's addresses and keys. */
export interface AddressPrefixes {
  /** Version byte of a P2PKH address. */
  pubkeyHash: number;
  /** Version byte of a P2SH address. */
  scriptHash: number;
  /** Version byte of an exported private key. */
  secretKey: number;
  /** Lower case. */
  bech32Hrp: string;
  /** First four bytes of an extended public key, as a big-endian number. */
  extPublic: number;
  /** First four bytes of an extended private key, as a big-endian number. */
  extSecret: number;
}

/** Address prefixes of a network. They are computed at each call, so callers should store the result. */
export function addressPrefixesOf({
  base58,
  bech32Hrp,
}: Pick<NetworkParams, 'base58' | 'bech32Hrp'>): AddressPrefixes {
  return {
    pubkeyHash: base58.pubkeyHash[0]!,
    scriptHash: base58.scriptHash[0]!,
    secretKey: base58.secretKey[0]!,
    bech32Hrp,
    extPublic: asBuffer(base58.extPublic).readUInt32BE(0),
    extSecret: asBuffer(base58.extSecret).readUInt32BE(0),
  };
}

const HASH_SIZE = 20;
const SCRIPT_HASH_SIZE = 32;
const MAX_WITNESS_VERSION = 16;
/** Source: BIP173. */
const MAX_BECH32_LENGTH = 90;

function encodeHash(prefix: number, hash: Bytes): string {
  const payload = Buffer.allocUnsafe(1 + hash.length);
  payload[0] = prefix;
  payload.set(hash, 1);
  return encodeBase58Check(payload);
}

function encodeWitness(hrp: string, version: number, program: Bytes): string {
  const native = loadNative();
  return native === null
    ? encodeWitnessFallback(hrp, version, program)
    : native.witnessAddress(hrp, version, program);
}

/** JavaScript fallback of the addon's `witnessAddress`. */
export function encodeWitnessFallback(hrp: string, version: number, program: Bytes): string {
  return bech32.encode(hrp, [version, ...bech32.toWords(program)]);
}

/** Returns the address of a destination. */
export function encodeDestination(destination: Destination, prefixes: AddressPrefixes): string {
  switch (destination.type) {
    case 'pubkeyhash':
      return encodeHash(prefixes.pubkeyHash, destination.hash);
    case 'scripthash':
      return encodeHash(prefixes.scriptHash, destination.hash);
    case 'witness_v0_keyhash':
    case 'witness_v0_scripthash':
      return encodeWitness(prefixes.bech32Hrp, 0, destination.hash);
    case 'witness_unknown':
      return encodeWitness(prefixes.bech32Hrp, destination.version, destination.program);
  }
}

function decodeBase58Destination(text: string, prefixes: AddressPrefixes): Destination | null {
  const payload = decodeBase58Check(text);
  if (payload === null || payload.length !== HASH_SIZE + 1) return null;
  const hash = payload.subarray(1);
  if (payload[0] === prefixes.pubkeyHash) return { type: 'pubkeyhash', hash };
  return payload[0] === prefixes.scriptHash ? { type: 'scripthash', hash } : null;
}

function decodeWitnessDestination(text: string, prefixes: AddressPrefixes): Destination | null {
  if (text.length > MAX_BECH32_LENGTH) return null;
  const decoded = bech32.decodeUnsafe(text);
  if (!decoded || decoded.prefix !== prefixes.bech32Hrp || decoded.words.length === 0) return null;
  const version = decoded.words[0]!;
  const bytes = bech32.fromWordsUnsafe(decoded.words.slice(1));
  if (!bytes) return null;
  const program = Buffer.from(bytes);
  if (version === 0) {
    if (program.length === HASH_SIZE) return { type: 'witness_v0_keyhash', hash: program };
    return program.length === SCRIPT_HASH_SIZE ? { type: 'witness_v0_scripthash', hash: program } : null;
  }
  if (version > MAX_WITNESS_VERSION || program.length < 2 || program.length > 40) return null;
  return { type: 'witness_unknown', version, program };
}

/** Returns the destination of an address of this network, or null. `text` may be any text. */
export function decodeDestination(text: string, prefixes: AddressPrefixes): Destination | null {
  return decodeBase58Destination(text, prefixes) ?? decodeWitnessDestination(text, prefixes);
}
