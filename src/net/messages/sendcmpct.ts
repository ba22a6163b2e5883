/**
 * Codec of the sendcmpct message, which announces support for a version of compact blocks and may request high-bandwidth
 * mode (BIP152). Source: Core protocol.h `SENDCMPCT`.
 */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from './codec.js';

export interface SendCmpctMessage {
  /** Whether the sender wants new blocks as cmpctblock without a request (high-bandwidth mode). */
  readonly announce: boolean;
  /**
   * Version of compact blocks, unsigned 64-bit. Version 1 uses short ids of txids and transactions without witness. Version
   * 2 uses short ids of wtxids and transactions with witness.
   */
  readonly version: bigint;
}

export const sendcmpctCodec: MessageCodec<SendCmpctMessage> = {
  command: 'sendcmpct',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: (reader) => ({ announce: reader.u8() !== 0, version: reader.u64() }),
  format: (writer, { announce, version }) => void writer.u8(announce ? 1 : 0).u64(version),
};
