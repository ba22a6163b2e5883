/**
 * Codec of the ping message, which requests a pong with the same nonce (BIP31). Before protocol version 60001 a ping has no
 * nonce. Source: Core protocol.h `PING`.
 */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from './codec.js';

export interface PingMessage {
  /** Unsigned 64-bit number that the pong repeats; null if the payload is empty. */
  readonly nonce: bigint | null;
}

/** Parsing throws `ReadError` if the payload is not empty but too short for a nonce. */
export const pingCodec: MessageCodec<PingMessage> = {
  command: 'ping',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: (reader) => ({ nonce: reader.remaining === 0 ? null : reader.u64() }),
  format(writer, { nonce }) {
    if (nonce !== null) writer.u64(nonce);
  },
};
