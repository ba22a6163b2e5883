/** The filter header before a range of blocks, and the hashes of their filters (BIP157). */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from '../codec.js';
import { readHashes, writeHashes } from './filterRange.js';

export interface CfheadersMessage {
  readonly filterType: number;
  /** The last block; all hashes are in wire order. */
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
