/** The transactions of blocks as text, which are kept for further answers. */
import type { BlockHeader } from '../primitives/header.js';

/** The part of a block's result that does not depend on other blocks. */
export interface BlockText {
  readonly header: BlockHeader;
  readonly strippedSizeBytes: number;
  readonly sizeBytes: number;
  readonly weight: number;
  /** The transactions, a JSON array. */
  readonly transactions: string;
}

export interface BlockTextCache {
  /** Memory that the texts may take, and take, in bytes. */
  readonly maxBytes: number;
  readonly sizeBytes: number;
  /** Longer texts are not kept. */
  readonly maxChars: number;
  /** `block`: id of its header. */
  find(block: number): BlockText | undefined;
  keep(block: number, text: BlockText): void;
}
