/**
 * Codec of the cmpctblock message: a block as its header and short ids of its transactions (BIP152). Source: Core
 * blockencodings.h `CBlockHeaderAndShortTxIDs`.
 */
import { HEADER_SIZE_BYTES } from '../../primitives/header.js';
import { ReadError, type Reader } from '../../util/reader.js';
import type { Writer } from '../../util/writer.js';
import { readRawTransaction } from '../rawTransaction.js';
import { MAX_PAYLOAD_BYTES, type MessageCodec } from './codec.js';

export const SHORT_ID_SIZE_BYTES = 6;
const MAX_INDEX = 0xffff;

export interface PrefilledTransaction {
  /** Position of the transaction in the block. A value above 65,535 is invalid but can be parsed. */
  readonly index: number;
  readonly raw: Buffer;
}

export interface CompactBlockMessage {
  /** 112 bytes. */
  readonly header: Buffer;
  /** Random value from which, with the header, the key of the short ids is derived. Unsigned 64-bit. */
  readonly nonce: bigint;
  /** Short ids of the transactions that are not prefilled, in block order: 6 bytes each, little endian. */
  readonly shortIds: Buffer;
  /** Transactions sent in full, ascending by index. */
  readonly prefilled: readonly PrefilledTransaction[];
}

function readPrefilled(reader: Reader): PrefilledTransaction[] {
  const count = reader.compactSize();
  const prefilled: PrefilledTransaction[] = [];
  let previous = -1;
  for (let i = 0; i < count; i++) {
    const offset = reader.compactSize();
    if (offset > MAX_INDEX) throw new ReadError('index overflowed 16-bits');
    previous += offset + 1;
    prefilled.push({ index: previous, raw: readRawTransaction(reader) });
  }
  return prefilled;
}

function writePrefilled(writer: Writer, prefilled: readonly PrefilledTransaction[]): void {
  writer.compactSize(prefilled.length);
  let previous = -1;
  for (const { index, raw } of prefilled) {
    writer.compactSize(index - previous - 1).raw(raw);
    previous = index;
  }
}

export const cmpctblockCodec: MessageCodec<CompactBlockMessage> = {
  command: 'cmpctblock',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse(reader) {
    const header = reader.view(HEADER_SIZE_BYTES);
    const nonce = reader.u64();
    const shortIds = reader.view(reader.compactSize() * SHORT_ID_SIZE_BYTES);
    const prefilled = readPrefilled(reader);
    if (shortIds.length / SHORT_ID_SIZE_BYTES + prefilled.length > MAX_INDEX)
      throw new ReadError('indexes overflowed 16 bits');
    return { header, nonce, shortIds, prefilled };
  },
  format(writer, { header, nonce, shortIds, prefilled }) {
    writer.raw(header).u64(nonce);
    writer.compactSize(shortIds.length / SHORT_ID_SIZE_BYTES).raw(shortIds);
    writePrefilled(writer, prefilled);
  },
};
