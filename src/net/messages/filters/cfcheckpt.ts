/** Codec of the cfcheckpt message: the filter headers of every 1,000th block up to a block (BIP157). */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from '../codec.js';
import { readHashes, writeHashes } from './filterRange.js';

export interface CfcheckptMessage {
  readonly filterType: number;
  /** Block id and filter headers are in wire order. */
  readonly stopHash: Buffer;
  readonly filterHeaders: readonly Buffer[];
}

export const cfcheckptCodec: MessageCodec<CfcheckptMessage> = {
  command: 'cfcheckpt',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: (reader) => ({
    filterType: reader.u8(),
    stopHash: reader.hash(),
    filterHeaders: readHashes(reader),
  }),
  format(writer, { filterType, stopHash, filterHeaders }) {
    writer.u8(filterType).raw(stopHash);
    writeHashes(writer, filterHeaders);
  },
};
