/** Codec of the getcfcheckpt message, which requests the filter headers of every 1,000th block up to a block (BIP157). */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from '../codec.js';

/** Distance in blocks between the filter headers of a cfcheckpt message. */
export const CHECKPOINT_INTERVAL = 1000;

export interface GetCfcheckptMessage {
  readonly filterType: number;
  /** Wire order. */
  readonly stopHash: Buffer;
}

export const getcfcheckptCodec: MessageCodec<GetCfcheckptMessage> = {
  command: 'getcfcheckpt',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: (reader) => ({ filterType: reader.u8(), stopHash: reader.hash() }),
  format: (writer, { filterType, stopHash }) => void writer.u8(filterType).raw(stopHash),
};
