/** Codec of the cfheaders message: the filter header of the block before a range, and the filter hashes of the range (BIP157). */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from '../codec.js';
import { readHashes, writeHashes } from './filterRange.js';

export interface CfheadersMessage {
  readonly filterType: number;
  /** Id of the last block of the range. All hashes are in wire order. */
  readonly stopHash: Buffer;
  readonly previousHeader: Buffer;
  readonly filterHashes: readonly Buffer[];
}

export const cfheadersCodec: MessageCodec<CfheadersMessage> = {
  command: 'cfheaders',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: (reader) => ({
    filterType: reader.u8(),
    stopHash: reader.hash(),
    previousHeader: reader.hash(),
    filterHashes: readHashes(reader),
  }),
  format(writer, { filterType, stopHash, previousHeader, filterHashes }) {
    writer.u8(filterType).raw(stopHash).raw(previousHeader);
    writeHashes(writer, filterHashes);
  },
};
