/**
 * The ECDSA backend without the addon: @noble/secp256k1 with plain big integers, some thirty times slower than
 * libsecp256k1. It must agree with the addon on every input. Test: test/differential/ecdsa.test.ts.
 */
import { createHmac } from 'node:crypto';
import * as secp from '@noble/secp256k1';
import { assert } from '../util/assert.js';
import type { Bytes } from '../util/bytes.js';
import type { EcdsaBackend, RecoverableSignature } from './ecdsaBackend.js';
import { COMPACT_SIGNATURE_SIZE, hasPublicKeySize, normalizeS, parseDerLax } from './ecdsaEncoding.js';
import { sha256 } from './hash.js';

secp.hashes.sha256 = (message) => new Uint8Array(sha256(message));
secp.hashes.hmacSha256 = (key, message) => new Uint8Array(createHmac('sha256', key).update(message).digest());

type Point = InstanceType<typeof secp.Point>;

const ORDER = secp.Point.CURVE().n;

/**
 * Parses a serialized key to a point; null if the key is invalid. A hybrid key (first byte 6 or 7) is an uncompressed key
 * whose first byte also encodes whether Y is odd; it is rejected if the byte is wrong. Source:
 * `secp256k1_eckey_pubkey_parse`.
 */
function parsePoint(publicKey: Bytes): Point | null {
  if (!hasPublicKeySize(publicKey)) return null;
  let encoding = publicKey;
  const head = publicKey[0]!;
  if (head === 6 || head === 7) {
    if ((publicKey[64]! & 1) !== (head & 1)) return null;
    encoding = Uint8Array.from(publicKey);
    encoding[0] = 4;
  }
  try {
    return secp.Point.fromBytes(encoding);
  } catch {
    return null;
  }
}

function toScalar(bytes: Bytes): bigint {
  return secp.etc.bytesToNumberBE(bytes);
}

export const fallbackEcdsa: EcdsaBackend = {
  name: '@noble/secp256k1',

  verify(hash: Bytes, derSignature: Bytes, publicKey: Bytes): boolean {
    assert(hash.length === 32, 'verifying a hash that has not 32 bytes');
    const point = parsePoint(publicKey);
    const compact = new Uint8Array(COMPACT_SIGNATURE_SIZE);
    if (point === null || !parseDerLax(derSignature, compact)) return false;
    normalizeS(compact);
    return secp.verify(compact, hash, point.toBytes(false), { prehash: false });
  },

  isFullyValidPublicKey(publicKey: Bytes): boolean {
    return parsePoint(publicKey) !== null;
  },

  publicKeyOf(privateKey: Bytes, compressed: boolean): Buffer {
    return Buffer.from(secp.getPublicKey(privateKey, compressed));
  },

  convertPublicKey(publicKey: Bytes, compressed: boolean): Buffer | null {
    const point = parsePoint(publicKey);
    return point === null ? null : Buffer.from(point.toBytes(compressed));
  },

  sign(hash: Bytes, privateKey: Bytes, extraEntropy: Bytes | null): RecoverableSignature {
    const signature = secp.sign(hash, privateKey, {
      prehash: false,
      format: 'recovered',
      ...(extraEntropy === null ? {} : { extraEntropy }),
    });
    return { compact: signature.subarray(1), recoveryId: signature[0]! };
  },

  recover(hash: Bytes, compact: Bytes, recoveryId: number, compressed: boolean): Buffer | null {
    const signature = new Uint8Array(COMPACT_SIGNATURE_SIZE + 1);
    signature[0] = recoveryId;
    signature.set(compact, 1);
    let publicKey: Bytes;
    try {
      publicKey = secp.recoverPublicKey(signature, hash, { prehash: false });
    } catch {
      return null;
    }
    return Buffer.from(secp.Point.fromBytes(publicKey).toBytes(compressed));
  },

  tweakPrivateKey(privateKey: Bytes, tweak: Bytes): Buffer | null {
    const addend = toScalar(tweak);
    const sum = (toScalar(privateKey) + addend) % ORDER;
    if (addend >= ORDER || sum === 0n) return null;
    return Buffer.from(secp.etc.numberToBytesBE(sum));
  },

  tweakPublicKey(publicKey: Bytes, tweak: Bytes): Buffer | null {
    const point = parsePoint(publicKey);
    const addend = toScalar(tweak);
    if (point === null || addend >= ORDER) return null;
    const sum = point.add(secp.Point.BASE.multiplyUnsafe(addend));
    return sum.is0() ? null : Buffer.from(sum.toBytes(true));
  },
};
