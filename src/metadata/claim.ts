/**
 * Decodes and encodes the value of a claim's output: the envelope with the channel's signature, and the message in it.
 * Values of 2016 and 2017 are converted to current messages. Source: lbry-sdk lbry/schema/base.py, claim.py.
 */
import type { Bytes } from '../util/bytes.js';
import { openEnvelope, sealEnvelope } from './envelope.js';
import { convertLegacyClaim } from './legacyClaim.js';
import { convertLegacyJson, isLegacyJson } from './legacyJson.js';
import { ClaimSchema, type Claim } from './messages/claim_pb.js';
import { MetadataError } from './metadataError.js';
import { readMessage, writeMessage } from './wire.js';

export type DecodedKind = Exclude<Claim['type']['case'], undefined>;

export interface DecodedClaim {
  /** Kind of the claim. Null if the message has no kind: the value then counts as undecodable, but can be encoded again. */
  readonly kind: DecodedKind | null;
  /** Id of the signing channel in wire order; null if the claim is not signed. 20 bytes, except in some values of 2017. */
  readonly channelId: Bytes | null;
  /** r and s of 32 bytes each; a signature of another length is never valid. Null if the claim is not signed. */
  readonly signature: Bytes | null;
  readonly claim: Claim;
  /**
   * Bytes that the signature covers. Current format: the canonical message after the envelope. 2017: the message without the
   * signature. 2016: the whole value.
   */
  readonly message: Bytes;
  /** Format of the value. 0: JSON of 2016; 1: messages of 2017; 2: current messages. */
  readonly version: 0 | 1 | 2;
}

/**
 * Decodes the value of a claim. Byte arrays in the result are views of the value. Throws `MetadataError` if the value cannot
 * be decoded.
 */
export function decodeClaim(value: Bytes): DecodedClaim {
  if (value.length === 0) throw new MetadataError('The value is empty');
  const envelope = openEnvelope(value);
  if (envelope !== null) {
    const { message: claim, canonical } = readMessage(ClaimSchema, envelope.message);
    return { kind: claim.type.case ?? null, ...envelope, claim, message: canonical, version: 2 };
  }
  if (isLegacyJson(value)) {
    const claim = convertLegacyJson(value);
    return { kind: 'stream', channelId: null, signature: null, claim, message: value, version: 0 };
  }
  const legacy = convertLegacyClaim(value);
  return { kind: legacy.claim.type.case ?? null, ...legacy, version: 1 };
}

/**
 * Encodes a value in the current format, canonically. The channel id and the signature are copied; the signature of a claim
 * of 2017 or 2018 does not match the new encoding. Throws `MetadataError` if the message cannot be encoded.
 */
export function encodeClaim(decoded: Pick<DecodedClaim, 'channelId' | 'signature' | 'claim'>): Buffer {
  return sealEnvelope(decoded, writeMessage(ClaimSchema, decoded.claim));
}
