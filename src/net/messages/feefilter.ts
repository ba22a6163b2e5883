/**
 * Codec of the feefilter message: requests that transactions with a lower fee rate are not announced (BIP133). Source: Core
 * protocol.h `FEEFILTER`.
 */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from './codec.js';

export interface FeeFilterMessage {
  /** Minimum fee rate in satoshis per 1,000 virtual bytes; signed 64-bit. A value outside the money range is ignored. */
  readonly feeRatePerKb: bigint;
}

export const feefilterCodec: MessageCodec<FeeFilterMessage> = {
  command: 'feefilter',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: (reader) => ({ feeRatePerKb: reader.i64() }),
  format: (writer, { feeRatePerKb }) => void writer.i64(feeRatePerKb),
};
