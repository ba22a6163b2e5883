/** The envelope before the message in the value of a claim and in the data of a support. Source: lbry-sdk lbry/schema/base.py. */
import { concatBytes, type Bytes } from '../util/bytes.js';

/** First byte of an envelope. `SIGNED` means that a channel's id and a signature precede the message. */
const ENVELOPE = { UNSIGNED: 0, SIGNED: 1 } as const;
/**
 * Offsets in a signed value: the channel's id ends at `CHANNEL_ID_END`, the signature at `SIGNATURE_END`. The message
 * follows.
 */
const CHANNEL_ID_END = 21;
const SIGNATURE_END = 85;

export interface Envelope {
  /** Id of the signing channel in wire order; null if the value is not signed. */
  readonly channelId: Bytes | null;
  readonly signature: Bytes | null;
  readonly message: Bytes;
}

/**
 * Splits a value into its parts, which are views of the value. Parts of a truncated value may be shorter. Null if the first
 * byte is unknown.
 */
export function openEnvelope(value: Bytes): Envelope | null {
  if (value[0] === ENVELOPE.UNSIGNED) return { channelId: null, signature: null, message: value.subarray(1) };
  if (value[0] !== ENVELOPE.SIGNED) return null;
  return {
    channelId: value.subarray(1, CHANNEL_ID_END),
    signature: value.subarray(CHANNEL_ID_END, SIGNATURE_END),
    message: value.subarray(SIGNATURE_END),
  };
}

/** Serializes an envelope from its parts. */
export function sealEnvelope(
  { channelId, signature }: Pick<Envelope, 'channelId' | 'signature'>,
  message: Bytes,
): Buffer {
  if (channelId === null || signature === null) return concatBytes(Buffer.of(ENVELOPE.UNSIGNED), message);
  return concatBytes(Buffer.of(ENVELOPE.SIGNED), channelId, signature, message);
}
