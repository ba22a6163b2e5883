/** Asks for a pong with the same nonce (BIP31). Peers before protocol 60001 send none. Source: Core protocol.h `PING`. */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from './codec.js';

export interface PingMessage {
  /** Unsigned 64-bit; null when the payload is empty. */
  readonly nonce: bigint | null;
}

/** Throws `ReadError` at a payload that holds a part of a nonce. */
export const pingCodec: MessageCodec<PingMessage> = {
  command: 'ping',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: (reader) => ({ nonce: reader.remaining === 0 ? null : reader.u64() }),
  format(writer, { nonce }) {
    if (nonce !== null) writer.u64(nonce);
  },
};
