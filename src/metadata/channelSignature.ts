/**
 * Signatures of channels over claims and over the data of supports, of all generations: what they are over, whether they
 * hold, and by which key. Source: lbry-sdk lbry/wallet/transaction.py `get_signature_digest`, `is_signature_valid`.
 */
import { ecdsaBackend, type SignatureVerifier } from '../crypto/ecdsa.js';
import { COMPACT_SIGNATURE_SIZE, COMPRESSED_KEY_SIZE, formatDer } from '../crypto/ecdsaEncoding.js';
import { sha256 } from '../crypto/hash.js';
import type { Bytes } from '../util/bytes.js';
import { concatBytes } from '../util/bytes.js';
import { decodeClaim, type DecodedClaim } from './claim.js';
import { MetadataError } from './metadataError.js';
import { readPublicKeyInfo } from './publicKeyInfo.js';
import { decodeSupport, type DecodedSupport } from './support.js';

/**
 * The key of a channel in 33 bytes, null if there is none that could be read. What has 33 bytes is given back as it is;
 * whether that is a point shows when something is verified.
 */
export function channelPublicKey(key: Bytes): Bytes | null {
  if (key.length === COMPRESSED_KEY_SIZE) return key;
  const point = readPublicKeyInfo(key);
  return point && ecdsaBackend().convertPublicKey(point, true);
}

/** Data hashed for a present-day signature. */
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
 * What the signature in the value of a claim is over; null if it is not signed or cannot be decoded. `firstInputOutPoint` is
 * that of the transaction, 36 bytes. `address25` tells the address of the claim's output with version byte and checksum,
 * which claims of 2017 alone need; null gives null for these.
 */
export function claimSignatureDigest(
  value: Bytes,
  firstInputOutPoint: Bytes,
  address25: () => Bytes | null,
): Bytes | null {
  return nullIfUndecodable(() => {
    const claim = decodeClaim(value);
    return decodedClaimDigest(claim, firstInputOutPoint, claim.version === 2 ? null : address25());
  });
}

/** What the signature in the data of a support is over; null if it is not signed or cannot be decoded. */
export function supportSignatureDigest(data: Bytes, firstInputOutPoint: Bytes): Bytes | null {
  return nullIfUndecodable(() => decodedSupportDigest(decodeSupport(data), firstInputOutPoint));
}

/** Whether the channel's key (33 bytes) made the signature (r and s; a high s is as good). Any bytes are allowed. */
export function isChannelSignatureValid(
  digest: Bytes,
  signature: Bytes,
  publicKey: Bytes,
  verifier: SignatureVerifier = ecdsaBackend(),
): boolean {
  if (signature.length !== COMPACT_SIGNATURE_SIZE || publicKey.length !== COMPRESSED_KEY_SIZE) return false;
  return verifier.verify(digest, formatDer(signature), publicKey);
}
