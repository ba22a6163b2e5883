/** Cache of the transactions of blocks as JSON text, for repeated RPC requests. */
import type { BlockHeader } from '../primitives/header.js';

/** The data of each transaction that a text contains. */
export type BlockPart = 'transactions' | 'ids';

/** The part of an RPC result about a block that does not depend on other blocks. */
export interface BlockText {
  readonly header: BlockHeader;
  readonly strippedSizeBytes: number;
  readonly sizeBytes: number;
  readonly weight: number;
  /** JSON array of the transactions, or of their ids, as text. */
  readonly transactions: string;
}

export interface BlockTextCache {
  /** Maximum and current memory use of the texts, in bytes. */
  readonly maxBytes: number;
  readonly sizeBytes: number;
  /** Maximum number of characters of a text that is stored. */
  readonly maxChars: number;
  /** Returns the cached text; undefined if there is none. `block` is the id of the block's header. */
  find(block: number, part: BlockPart): BlockText | undefined;
  keep(block: number, part: BlockPart, text: BlockText): void;
}
