/** Requests the filter header of every thousandth block up to a block (BIP157). */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from '../codec.js';

/** Blocks between two checkpoints. */
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
