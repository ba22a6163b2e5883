/**
 * Filtered blocks for light clients: the header, and a proof of the matching transactions (BIP37). Source: Core
 * merkleblock.cpp `CMerkleBlock`.
 */
import { buildPartialMerkleTreeInSlices } from '../consensus/partialMerkleTree.js';
import type { LoadedBlock } from '../chain/blocks/loadedBlock.js';
import { HEADER_SIZE_BYTES } from '../primitives/header.js';
import { txidAt } from '../primitives/blockView.js';
import type { Slices } from '../util/slices.js';
import type { MerkleBlockMessage } from './messages/filters/merkleblock.js';

export interface MerkleBlock {
  readonly message: MerkleBlockMessage;
  /** Positions of the matching transactions in the block, ascending. */
  readonly matches: readonly number[];
}

/**
 * Builds the filtered block. Calls `isMatch` once for each transaction in block order, because a match may change the
 * filter. The block must have at least one transaction.
 */
export function* buildMerkleBlock(
  { raw, parsed }: LoadedBlock,
  isMatch: (tx: number) => Slices<boolean>,
): Slices<MerkleBlock> {
  const marks: boolean[] = [];
  for (let tx = 0; tx < parsed.txCount; tx++) marks.push(yield* isMatch(tx));
  const txids = marks.map((_, tx) => txidAt(parsed, tx));
  const tree = yield* buildPartialMerkleTreeInSlices(txids, (tx) => marks[tx]!);
  const matches = [...marks.keys()].filter((tx) => marks[tx]!);
  return { message: { header: raw.subarray(0, HEADER_SIZE_BYTES), tree }, matches };
}
