/** Understands compact blocks of a version, and may want them unasked (BIP152). Source: Core protocol.h `SENDCMPCT`. */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from './codec.js';

export interface SendCmpctMessage {
  /** Whether new blocks should come as cmpctblock instead of being announced. */
  readonly announce: boolean;
  /** 1: short ids of txids, transactions without witness; 2: of wtxids, with witness. Unsigned 64-bit. */
  readonly version: bigint;
}

export const sendcmpctCodec: MessageCodec<SendCmpctMessage> = {
  command: 'sendcmpct',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: (reader) => ({ announce: reader.u8() !== 0, version: reader.u64() }),
  format: (writer, { announce, version }) => void writer.u8(announce ? 1 : 0).u64(version),
};
