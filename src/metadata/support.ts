/** The data that a support may have: a comment, signed by a channel or unsigned. Source: lbry-sdk lbry/schema/support.py. */
import type { Bytes } from '../util/bytes.js';
import { openEnvelope, sealEnvelope, type Envelope } from './envelope.js';
import { SupportSchema, type Support } from './messages/claim_pb.js';
import { MetadataError } from './metadataError.js';
import { readMessage, writeMessage } from './wire.js';

/** `message` is canonical: the signed bytes. */
export interface DecodedSupport extends Envelope {
  readonly support: Support;
}

/** Decodes the data of a support; bytes of the result point into it. Throws `MetadataError`. */
export function decodeSupport(data: Bytes): DecodedSupport {
  const envelope = openEnvelope(data);
  if (envelope === null) throw new MetadataError('The data is of no known format');
  const { message: support, canonical } = readMessage(SupportSchema, envelope.message);
  return { ...envelope, support, message: canonical };
}

/** The data, canonical. */
export function encodeSupport(decoded: Pick<DecodedSupport, 'channelId' | 'signature' | 'support'>): Buffer {
  return sealEnvelope(decoded, writeMessage(SupportSchema, decoded.support));
}
