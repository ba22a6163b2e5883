/**
 * Announces support for a version of compact blocks, and may request high-bandwidth mode (BIP152). Source: Core protocol.h
 * `SENDCMPCT`.
 */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from './codec.js';

export interface SendCmpctMessage {
  /** Whether new blocks should be sent as cmpctblock without a request. */
  readonly announce: boolean;
  /** 1: short ids of txids, transactions without witness. 2: short ids of wtxids, transactions with witness. Unsigned 64-bit. */
  readonly version: bigint;
}

export const sendcmpctCodec: MessageCodec<SendCmpctMessage> = {
  command: 'sendcmpct',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: (reader) => ({ announce: reader.u8() !== 0, version: reader.u64() }),
  format: (writer, { announce, version }) => void writer.u8(announce ? 1 : 0).u64(version),
};
