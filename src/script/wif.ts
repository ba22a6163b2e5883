/**
 * Encodes private keys as text (wallet import format): prefix, 32 bytes, and 01 if the public key is compressed. Source:
 * Core key_io.cpp `DecodeSecret`, `EncodeSecret`.
 */
import { isValidPrivateKey, PRIVATE_KEY_SIZE } from '../crypto/ecdsaEncoding.js';
import type { Bytes } from '../util/bytes.js';
import type { AddressPrefixes } from './address.js';
import { decodeBase58Check, encodeBase58Check } from './base58.js';

export interface DecodedSecret {
  privateKey: Buffer;
  compressed: boolean;
}

/**
 * Decodes a private key. Null if the text is not a key of this network, or the number is not a valid key; the decoded bytes
 * are overwritten in this case.
 */
export function decodeSecret(text: string, prefixes: AddressPrefixes): DecodedSecret | null {
  const payload = decodeBase58Check(text);
  if (payload === null) return null;
  const secret = secretIn(payload, prefixes);
  if (secret === null) payload.fill(0);
  return secret;
}

function secretIn(payload: Buffer, prefixes: AddressPrefixes): DecodedSecret | null {
  if (payload[0] !== prefixes.secretKey) return null;
  const compressed = payload.length === PRIVATE_KEY_SIZE + 2;
  if (!compressed && payload.length !== PRIVATE_KEY_SIZE + 1) return null;
  if (compressed && payload[PRIVATE_KEY_SIZE + 1] !== 1) return null;
  const privateKey = payload.subarray(1, PRIVATE_KEY_SIZE + 1);
  return isValidPrivateKey(privateKey) ? { privateKey, compressed } : null;
}

export function encodeSecret(privateKey: Bytes, compressed: boolean, prefixes: AddressPrefixes): string {
  const parts: Bytes[] = [Buffer.of(prefixes.secretKey), privateKey];
  if (compressed) parts.push(Buffer.of(1));
  return encodeBase58Check(Buffer.concat(parts));
}
