/** Parts of requests that could block the node: large values, and long lists of valid items. */
import { sha256 } from '../../../src/crypto/hash.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { addressPrefixesOf } from '../../../src/script/address.js';
import { encodeBase58Check } from '../../../src/script/base58.js';
import { encodeSecret } from '../../../src/script/wif.js';

export type Make = (sizeBytes: number) => string;

const prefixes = addressPrefixesOf(regtestParams);

export const hex32 = (n: number): string => n.toString(16).padStart(64, '0');
export const addressAt = (n: number): string => {
  const hash = Buffer.alloc(21);
  hash[0] = prefixes.pubkeyHash;
  hash.writeUInt32BE(n, 1);
  return encodeBase58Check(hash);
};
export const secret = encodeSecret(sha256(Buffer.from('a')), true, prefixes);

/** Fills `sizeBytes` with items, for the inside of an array or object. */
export function many(sizeBytes: number, item: (n: number) => string): string {
  const step = item(1_000_000).length + 1;
  return Array.from({ length: Math.max(1, Math.floor(sizeBytes / step)) }, (_, n) => item(n)).join(',');
}
export const list = (sizeBytes: number, item: (n: number) => string): string => `[${many(sizeBytes, item)}]`;
export const repeat = (text: string, sizeBytes: number): string =>
  text.repeat(Math.max(1, Math.floor(sizeBytes / text.length)));
export const quoted = (text: string, sizeBytes: number): string => `"${repeat(text, sizeBytes)}"`;
export const call = (method: string, params: string): string =>
  `{"id":1,"method":"${method}","params":${params}}`;

export const levels = (sizeBytes: number): string =>
  `${repeat('[', sizeBytes / 2)}${repeat(']', sizeBytes / 2)}`;

/** A public key: the generator of the curve. */
export const KEY = `02${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'}`;
