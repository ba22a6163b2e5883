/** Codec of the pong message, the response to a ping (BIP31). Source: Core protocol.h `PONG`. */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from './codec.js';

const NONCE_SIZE = 8;

export interface PongMessage {
  /**
   * Nonce of the ping, unsigned 64-bit; null if the payload is too short. A pong without nonce is not an error but ends the
   * pending ping.
   */
  readonly nonce: bigint | null;
}

export const pongCodec: MessageCodec<PongMessage> = {
  command: 'pong',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: (reader) => ({ nonce: reader.remaining < NONCE_SIZE ? null : reader.u64() }),
  format(writer, { nonce }) {
    if (nonce !== null) writer.u64(nonce);
  },
};
