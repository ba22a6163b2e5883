/**
 * What a channel's signature of a claim is over, and the key that it is held against. Verifying is the caller's business.
 * Source: lbry-sdk lbry/wallet/transaction.py `get_signature_digest`, lbry/schema/claim.py `public_key_bytes`.
 */
import { sha256 } from '../crypto/hash.js';
import { concatBytes, type Bytes } from '../util/bytes.js';
import { decodeClaim } from './claim.js';
import { ClaimSchema } from './messages/claim_pb.js';
import { MetadataError } from './metadataError.js';
import { writeMessage } from './wire.js';

const COMPRESSED_KEY_BYTES = 33;
/** DER SubjectPublicKeyInfo of a secp256k1 key: 23 bytes of algorithm, then the uncompressed point. */
const DER_KEY_BYTES = 88;
const DER_POINT_AT = 23;

/** The hash that was signed; null where there is nothing signed. `firstInputOutPoint` has 36 bytes. */
export function claimSignatureDigest(
  value: Bytes,
  firstInputOutPoint: Bytes,
  _address25: Bytes | null,
): Bytes | null {
  try {
    const { channelId, claim } = decodeClaim(value);
    if (channelId === null) return null;
    return sha256(concatBytes(firstInputOutPoint, channelId, writeMessage(ClaimSchema, claim)));
  } catch (error) {
    if (error instanceof MetadataError) return null;
    throw error;
  }
}

/** The key of a channel in its compressed form; null where there is none. */
export function channelPublicKey(key: Bytes): Bytes | null {
  if (key.length === COMPRESSED_KEY_BYTES) return key;
  if (key.length !== DER_KEY_BYTES || key[DER_POINT_AT] !== 4) return null;
  const compressed = Buffer.from(key.subarray(DER_POINT_AT, DER_POINT_AT + COMPRESSED_KEY_BYTES));
  compressed[0] = 2 + (key[key.length - 1]! & 1);
  return compressed;
}
