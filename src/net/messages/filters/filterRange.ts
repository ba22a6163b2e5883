/** Codec shared by getcfilters and getcfheaders, the requests for compact filters of a block range (BIP157). */
import type { Reader } from '../../../util/reader.js';
import type { Writer } from '../../../util/writer.js';
import { MAX_PAYLOAD_BYTES, type MessageCodec } from '../codec.js';

export interface FilterRangeMessage {
  readonly filterType: number;
  readonly startHeight: number;
  /** Wire order. */
  readonly stopHash: Buffer;
}

/** Creates the codec of a message that requests data of all blocks from a start height up to a stop hash. */
export function filterRangeCodec(command: string): MessageCodec<FilterRangeMessage> {
  return {
    command,
    maxSizeBytes: MAX_PAYLOAD_BYTES,
    parse: (reader) => ({ filterType: reader.u8(), startHeight: reader.u32(), stopHash: reader.hash() }),
    format: (writer, { filterType, startHeight, stopHash }) =>
      void writer.u8(filterType).u32(startHeight).raw(stopHash),
  };
}

export function readHashes(reader: Reader): Buffer[] {
  const count = reader.compactSize();
  const hashes: Buffer[] = [];
  for (let i = 0; i < count; i++) hashes.push(reader.hash());
  return hashes;
}

export function writeHashes(writer: Writer, hashes: readonly Buffer[]): void {
  writer.compactSize(hashes.length);
  for (const hash of hashes) writer.raw(hash);
}
