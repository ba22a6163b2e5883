/** The envelope before the message in the value of a claim and in the data of a support. Source: lbry-sdk lbry/schema/base.py. */
import { concatBytes, type Bytes } from '../util/bytes.js';

/** First byte: whether a channel's id and signature precede the message. */
const ENVELOPE = { UNSIGNED: 0, SIGNED: 1 } as const;
/** Offsets at which the signature and the message of a signed value begin. */
const CHANNEL_ID_END = 21;
const SIGNATURE_END = 85;

export interface Envelope {
  /** Id of the signing channel, wire order; null if unsigned. */
  readonly channelId: Bytes | null;
  readonly signature: Bytes | null;
  readonly message: Bytes;
}

/** The parts as views of the value; parts of a truncated value may be shorter. Null if the first byte is unknown. */
export function openEnvelope(value: Bytes): Envelope | null {
  if (value[0] === ENVELOPE.UNSIGNED) return { channelId: null, signature: null, message: value.subarray(1) };
  if (value[0] !== ENVELOPE.SIGNED) return null;
  return {
    channelId: value.subarray(1, CHANNEL_ID_END),
    signature: value.subarray(CHANNEL_ID_END, SIGNATURE_END),
    message: value.subarray(SIGNATURE_END),
  };
}

/** Parts assembled. */
export function sealEnvelope(
  { channelId, signature }: Pick<Envelope, 'channelId' | 'signature'>,
  message: Bytes,
): Buffer {
  if (channelId === null || signature === null) return concatBytes(Buffer.of(ENVELOPE.UNSIGNED), message);
  return concatBytes(Buffer.of(ENVELOPE.SIGNED), channelId, signature, message);
}
