/** Codec of the cfilter message: the compact filter of a block (BIP157). */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from '../codec.js';

export interface CfilterMessage {
  readonly filterType: number;
  /** Wire order. */
  readonly blockHash: Buffer;
  /** Compact filter, serialized as in BIP158. */
  readonly filter: Buffer;
}

export const cfilterCodec: MessageCodec<CfilterMessage> = {
  command: 'cfilter',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: (reader) => ({ filterType: reader.u8(), blockHash: reader.hash(), filter: reader.varBytes() }),
  format: (writer, { filterType, blockHash, filter }) =>
    void writer.u8(filterType).raw(blockHash).varBytes(filter),
};
