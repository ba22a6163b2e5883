/**
 * The value of a claim's output, taken apart and assembled: the envelope with the signature of a channel, and the
 * message within. Values of 2016 and 2017 become messages of today. Source: lbry-sdk lbry/schema/base.py, claim.py.
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
  /** Null if the message says no kind; then the value counts as undecodable for everything but encoding it again. */
  readonly kind: DecodedKind | null;
  /** Id of the signing channel, wire order; null if unsigned. 20 bytes, except in some values of 2017. */
  readonly channelId: Bytes | null;
  /** r and s of 32 bytes each; another length is never valid. Null when it is not signed. */
  readonly signature: Bytes | null;
  readonly claim: Claim;
  /** What a signature is over: the message behind the envelope, canonical; of 2017 without the signature; of 2016 the value. */
  readonly message: Bytes;
  /** 0: JSON of 2016; 1: messages of 2017; 2: those of today. */
  readonly version: 0 | 1 | 2;
}

/** Decodes the value of a claim; bytes of the result point into it. Throws `MetadataError` when it cannot be understood. */
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
 * The value of today's format, canonical. The channel's id and signature are as given, and of a claim of 2017 or 2018 they
 * do not fit what is written. Throws `MetadataError` when the message cannot be written.
 */
export function encodeClaim(decoded: Pick<DecodedClaim, 'channelId' | 'signature' | 'claim'>): Buffer {
  return sealEnvelope(decoded, writeMessage(ClaimSchema, decoded.claim));
}
