/**
 * Codec of the merkleblock message: a header and a proof of the block's transactions that match a bloom filter (BIP37).
 * Source: Core merkleblock.h.
 */
import {
  parsePartialMerkleTree,
  writePartialMerkleTree,
  type PartialMerkleTree,
} from '../../../consensus/partialMerkleTree.js';
import { HEADER_SIZE_BYTES } from '../../../primitives/header.js';
import { MAX_PAYLOAD_BYTES, type MessageCodec } from '../codec.js';

export interface MerkleBlockMessage {
  /** 112 bytes. */
  readonly header: Buffer;
  readonly tree: PartialMerkleTree;
}

export const merkleblockCodec: MessageCodec<MerkleBlockMessage> = {
  command: 'merkleblock',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: (reader) => ({ header: reader.view(HEADER_SIZE_BYTES), tree: parsePartialMerkleTree(reader) }),
  format(writer, { header, tree }) {
    writer.raw(header);
    writePartialMerkleTree(writer, tree);
  },
};
