/** Data of a support: a comment, which may be signed by a channel. Source: lbry-sdk lbry/schema/support.py. */
import type { Bytes } from '../util/bytes.js';
import { openEnvelope, sealEnvelope, type Envelope } from './envelope.js';
import { SupportSchema, type Support } from './messages/claim_pb.js';
import { MetadataError } from './metadataError.js';
import { readMessage, writeMessage } from './wire.js';

/** Decoded data of a support. `message` contains the signed bytes in canonical encoding. */
export interface DecodedSupport extends Envelope {
  readonly support: Support;
}

/** Decodes the data of a support. Byte arrays in the result are views of the data. Throws `MetadataError`. */
export function decodeSupport(data: Bytes): DecodedSupport {
  const envelope = openEnvelope(data);
  if (envelope === null) throw new MetadataError('The data has an unknown format');
  const { message: support, canonical } = readMessage(SupportSchema, envelope.message);
  return { ...envelope, support, message: canonical };
}

/** Encodes the data of a support canonically. */
export function encodeSupport(decoded: Pick<DecodedSupport, 'channelId' | 'signature' | 'support'>): Buffer {
  return sealEnvelope(decoded, writeMessage(SupportSchema, decoded.support));
}
