/**
 * Key expressions of an output descriptor: a public key in hex, a private key, or an extended key with a path that may end
 * in a range. Source: Core 0.17 script/descriptor.cpp `ParsePubkey`, `BIP32PubkeyProvider`.
 */
import { ecdsaBackend } from '../../crypto/ecdsa.js';
import type { AddressPrefixes } from '../../script/address.js';
import { decodeBase58Check } from '../../script/base58.js';
import { decodeSecret } from '../../script/wif.js';
import { deriveChild, HARDENED, parseExtendedKey, type ExtendedKey } from '../../signing/extendedKey.js';
import { fromHex, isHex, type Bytes } from '../../util/bytes.js';

const COMPRESSED_SIZE = 33;
const PREFIX_SIZE = 4;
/**
 * Maximum number of path elements: the key, 255 steps and the range. The depth of a key is one byte (BIP32). The reference
 * lets the depth overflow, and its time grows with the length of the path.
 */
const MAX_ELEMENTS = 257;

export interface KeyExpression {
  /** Whether the key ends in a range, so that it depends on an index. */
  readonly isRange: boolean;
  /** Size of a public key of this expression in bytes. */
  readonly size: number;
  /** Returns the public key at a position in the range. Null if it can only be derived with a private key. */
  keyAt(position: number): Bytes | null;
}

/**
 * Parses decimal digits with an optional plus sign; the value is at most 2^32 − 1. Returns null for other text. Source:
 * `ParseUInt32`.
 */
export function parseUint32(text: string): number | null {
  if (!/^\+?[0-9]{1,20}$/.test(text)) return null;
  const value = Number(text);
  return value <= 0xffffffff ? value : null;
}

function constantKey(key: Bytes): KeyExpression {
  return { isRange: false, size: key.length, keyAt: () => key };
}

function decodeExtendedKey(text: string, prefixes: AddressPrefixes): ExtendedKey | null {
  const payload = decodeBase58Check(text);
  if (payload === null || payload.length < PREFIX_SIZE) return null;
  const prefix = payload.readUInt32BE(0);
  const bytes = payload.subarray(PREFIX_SIZE);
  if (prefix === prefixes.extSecret) return parseExtendedKey(bytes, true);
  return prefix === prefixes.extPublic ? parseExtendedKey(bytes, false) : null;
}

/** Parses path elements to child numbers; null if an element is invalid. */
function parsePath(elements: readonly string[]): number[] | null {
  const path: number[] = [];
  for (const element of elements) {
    const isHardened = /['h]$/.test(element);
    const number = parseUint32(isHardened ? element.slice(0, -1) : element);
    if (number === null || number >= HARDENED) return null;
    path.push(isHardened ? number + HARDENED : number);
  }
  return path;
}

class DerivedKeys implements KeyExpression {
  readonly isRange: boolean;
  readonly size = COMPRESSED_SIZE;
  private readonly range: 'none' | 'plain' | 'hardened';
  /** Key at the end of the path; null if it can only be derived with a private key. */
  private readonly base: ExtendedKey | null;

  constructor(root: ExtendedKey, path: readonly number[], range: 'none' | 'plain' | 'hardened') {
    this.range = range;
    this.isRange = range !== 'none';
    let key: ExtendedKey | null = root;
    for (const number of path) key = key && deriveChild(key, number);
    this.base = key;
  }

  keyAt(position: number): Bytes | null {
    if (this.base === null || this.range === 'none') return this.base?.publicKey ?? null;
    const number = this.range === 'hardened' ? position + HARDENED : position;
    return deriveChild(this.base, number)?.publicKey ?? null;
  }
}

/**
 * Parses a key expression. Null if the text is not a key of this network, or is an uncompressed key where only compressed
 * keys are allowed.
 */
export function parseKeyExpression(
  text: string,
  allowUncompressed: boolean,
  prefixes: AddressPrefixes,
): KeyExpression | null {
  const elements = text.split('/', MAX_ELEMENTS + 1);
  if (elements.length > MAX_ELEMENTS) return null;
  const [first = ''] = elements;
  if (elements.length === 1) {
    if (first !== '' && isHex(first)) {
      const key = fromHex(first);
      const ecdsa = ecdsaBackend();
      const fits = allowUncompressed || key.length === COMPRESSED_SIZE;
      if (fits && ecdsa.isFullyValidPublicKey(key)) return constantKey(key);
    }
    const secret = decodeSecret(first, prefixes);
    if (secret !== null && (allowUncompressed || secret.compressed)) {
      return constantKey(ecdsaBackend().publicKeyOf(secret.privateKey, secret.compressed));
    }
  }
  const root = decodeExtendedKey(first, prefixes);
  if (root === null) return null;
  const last = elements.at(-1)!;
  const range = last === '*' ? 'plain' : last === "*'" || last === '*h' ? 'hardened' : 'none';
  const path = parsePath(elements.slice(1, range === 'none' ? undefined : -1));
  return path && new DerivedKeys(root, path, range);
}
