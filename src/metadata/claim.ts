/**
 * The value of a claim's output, taken apart: the envelope with the signature of a channel, and the message within.
 * Source: lbry-sdk lbry/schema/base.py, claim.py.
 */
import type { Bytes } from '../util/bytes.js';
import { ClaimSchema, type Claim } from './messages/claim_pb.js';
import { MetadataError } from './metadataError.js';
import { readMessage } from './wire.js';

/** What the first byte of a value says: whether a channel's id and signature come before the message. */
export const ENVELOPE = { UNSIGNED: 0, SIGNED: 1 } as const;
/** Where, behind the first byte, the signature and the message of a signed value begin. */
export const CHANNEL_ID_END = 21;
export const SIGNATURE_END = 85;

export type DecodedKind = Exclude<Claim['type']['case'], undefined>;

export interface DecodedClaim {
  /** Null where the message says no kind; then the value counts as undecodable for everything but encoding it anew. */
  readonly kind: DecodedKind | null;
  /** Of the channel that signed it, wire order; null when it is not signed. 20 bytes unless a value of 2017 says otherwise. */
  readonly channelId: Bytes | null;
  /** r and s of 32 bytes each; another length is never valid. Null when it is not signed. */
  readonly signature: Bytes | null;
  readonly claim: Claim;
  /** The message as it stands in the value, behind the envelope. */
  readonly message: Bytes;
}

/** The parts of an envelope; of a short one as much as is there. Null where the first byte announces none. */
export function openEnvelope(value: Bytes): Pick<DecodedClaim, 'channelId' | 'signature' | 'message'> | null {
  if (value[0] === ENVELOPE.UNSIGNED) return { channelId: null, signature: null, message: value.subarray(1) };
  if (value[0] !== ENVELOPE.SIGNED) return null;
  return {
    channelId: value.subarray(1, CHANNEL_ID_END),
    signature: value.subarray(CHANNEL_ID_END, SIGNATURE_END),
    message: value.subarray(SIGNATURE_END),
  };
}

/** Decodes the value of a claim; bytes of the result point into it. Throws `MetadataError` when it cannot be understood. */
export function decodeClaim(value: Bytes): DecodedClaim {
  const envelope = openEnvelope(value);
  if (envelope === null) throw new MetadataError('The value is of no known format');
  const claim = readMessage(ClaimSchema, envelope.message);
  return { kind: claim.type.case ?? null, ...envelope, claim };
}
