/**
 * Channel signatures of all formats, over claims and over the data of supports: the signed data, verification, and the
 * signing key. Source: lbry-sdk lbry/wallet/transaction.py `get_signature_digest`, `is_signature_valid`.
 */
import type { DescMessage } from '@bufbuild/protobuf';
import { ecdsaBackend, type SignatureVerifier } from '../crypto/ecdsa.js';
import { COMPACT_SIGNATURE_SIZE, COMPRESSED_KEY_SIZE, formatDer } from '../crypto/ecdsaEncoding.js';
import { sha256 } from '../crypto/hash.js';
import type { Bytes } from '../util/bytes.js';
import { concatBytes } from '../util/bytes.js';
import { decodeClaim, type DecodedClaim } from './claim.js';
import { openEnvelope } from './envelope.js';
import { ClaimSchema, SupportSchema } from './messages/claim_pb.js';
import { MetadataError } from './metadataError.js';
import { readPublicKeyInfo } from './publicKeyInfo.js';
import { decodeSupport, type DecodedSupport } from './support.js';
import { isSurelyCanonical } from './wire.js';

/**
 * The public key of a channel in 33 bytes; null if the channel has no key or the key is unreadable. A key of 33 bytes is
 * returned unchanged; an invalid point is detected only during verification.
 */
export function channelPublicKey(key: Bytes): Bytes | null {
  if (key.length === COMPRESSED_KEY_SIZE) return key;
  const point = readPublicKeyInfo(key);
  return point && ecdsaBackend().convertPublicKey(point, true);
}

/** Digest that a signature in the current format signs. */
function digestOf(firstInputOutPoint: Bytes, channelId: Bytes, message: Bytes): Buffer {
  return sha256(concatBytes(firstInputOutPoint, channelId, message));
}

/** Like `claimSignatureDigest`, for a decoded claim. */
export function decodedClaimDigest(
  { version, channelId, message }: Pick<DecodedClaim, 'version' | 'channelId' | 'message'>,
  firstInputOutPoint: Bytes,
  address25: Bytes | null,
): Buffer | null {
  if (channelId === null) return null;
  if (version === 2) return digestOf(firstInputOutPoint, channelId, message);
  return address25 && sha256(concatBytes(address25, message, Buffer.from(channelId).reverse()));
}

/** Like `supportSignatureDigest`, for decoded data. */
export function decodedSupportDigest(
  { channelId, message }: Pick<DecodedSupport, 'channelId' | 'message'>,
  firstInputOutPoint: Bytes,
): Buffer | null {
  return channelId && digestOf(firstInputOutPoint, channelId, message);
}

function nullIfUndecodable<Result>(run: () => Result): Result | null {
  try {
    return run();
  } catch (error) {
    if (error instanceof MetadataError) return null;
    throw error;
  }
}

/**
 * Digest of a signed value in the current format whose message is canonical, as most are; null for another value. The
 * signature covers the canonical message, so this message need not be decoded.
 */
function canonicalDigest(schema: DescMessage, value: Bytes, firstInputOutPoint: Bytes): Buffer | null {
  const envelope = openEnvelope(value);
  if (!envelope?.channelId || !isSurelyCanonical(schema, envelope.message)) return null;
  return digestOf(firstInputOutPoint, envelope.channelId, envelope.message);
}

/**
 * Digest over which the signature of a claim's value is computed; null if the value is not signed or cannot be decoded.
 * `firstInputOutPoint` is the outpoint (36 bytes) of the transaction's first input. `address25` returns the address of the
 * claim's output with version byte and checksum. Only claims of 2017 need the address; if it is null, the digest of such a
 * claim is null.
 */
export function claimSignatureDigest(
  value: Bytes,
  firstInputOutPoint: Bytes,
  address25: () => Bytes | null,
): Bytes | null {
  const known = canonicalDigest(ClaimSchema, value, firstInputOutPoint);
  if (known !== null) return known;
  return nullIfUndecodable(() => {
    const claim = decodeClaim(value);
    return decodedClaimDigest(claim, firstInputOutPoint, claim.version === 2 ? null : address25());
  });
}

/** Digest over which the signature of a support's data is computed; null if the data is not signed or cannot be decoded. */
export function supportSignatureDigest(data: Bytes, firstInputOutPoint: Bytes): Bytes | null {
  const known = canonicalDigest(SupportSchema, data, firstInputOutPoint);
  if (known !== null) return known;
  return nullIfUndecodable(() => decodedSupportDigest(decodeSupport(data), firstInputOutPoint));
}

/**
 * Whether the channel's key (33 bytes) created the signature (r and s; a high s is also valid). The arguments may be any
 * bytes.
 */
export function isChannelSignatureValid(
  digest: Bytes,
  signature: Bytes,
  publicKey: Bytes,
  verifier: SignatureVerifier = ecdsaBackend(),
): boolean {
  if (signature.length !== COMPACT_SIGNATURE_SIZE || publicKey.length !== COMPRESSED_KEY_SIZE) return false;
  return verifier.verify(digest, formatDer(signature), publicKey);
}
