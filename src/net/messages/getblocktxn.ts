/**
 * Codec of the getblocktxn message, which requests transactions of a block by position (BIP152). Source: Core
 * blockencodings.h `BlockTransactionsRequest`.
 */
import { ReadError } from '../../util/reader.js';
import { MAX_PAYLOAD_BYTES, type MessageCodec } from './codec.js';

const MAX_INDEX = 0xffff;

export interface GetBlockTxnMessage {
  /** Wire order. */
  readonly blockHash: Buffer;
  /** Positions of the requested transactions in the block: ascending, distinct, at most 65,535. */
  readonly indexes: readonly number[];
}

export const getblocktxnCodec: MessageCodec<GetBlockTxnMessage> = {
  command: 'getblocktxn',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse(reader) {
    const blockHash = reader.hash();
    const count = reader.compactSize();
    const indexes: number[] = [];
    let next = 0;
    for (let i = 0; i < count; i++) {
      const index = next + reader.compactSize();
      if (index > MAX_INDEX) throw new ReadError('indexes overflowed 16 bits');
      indexes.push(index);
      next = index + 1;
    }
    return { blockHash, indexes };
  },
  format(writer, { blockHash, indexes }) {
    writer.raw(blockHash).compactSize(indexes.length);
    let next = 0;
    for (const index of indexes) {
      writer.compactSize(index - next);
      next = index + 1;
    }
  },
};
