/**
 * Codec of the blocktxn message: transactions of a block that the receiver requested with getblocktxn (BIP152). Source: Core
 * blockencodings.h `BlockTransactions`.
 */
import { readRawTransaction } from '../rawTransaction.js';
import { MAX_PAYLOAD_BYTES, type MessageCodec } from './codec.js';

export interface BlockTxnMessage {
  /** Wire order. */
  readonly blockHash: Buffer;
  /** Serialized transactions, in the order of the request. */
  readonly txs: readonly Buffer[];
}

export const blocktxnCodec: MessageCodec<BlockTxnMessage> = {
  command: 'blocktxn',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse(reader) {
    const blockHash = reader.hash();
    const count = reader.compactSize();
    const txs: Buffer[] = [];
    for (let i = 0; i < count; i++) txs.push(readRawTransaction(reader));
    return { blockHash, txs };
  },
  format(writer, { blockHash, txs }) {
    writer.raw(blockHash).compactSize(txs.length);
    for (const tx of txs) writer.raw(tx);
  },
};
