/** Wants no announcement of transactions that pay less (BIP133). Source: Core protocol.h `FEEFILTER`. */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from './codec.js';

export interface FeeFilterMessage {
  /** Satoshis per 1,000 virtual bytes; signed 64-bit, out of the money range it is ignored. */
  readonly feeRatePerKb: bigint;
}

export const feefilterCodec: MessageCodec<FeeFilterMessage> = {
  command: 'feefilter',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: (reader) => ({ feeRatePerKb: reader.i64() }),
  format: (writer, { feeRatePerKb }) => void writer.i64(feeRatePerKb),
};
