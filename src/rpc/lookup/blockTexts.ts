/**
 * Cached texts of block transactions, as in results (`getblock` with verbosity 2, REST). They are constant as long as the
 * block exists, and creating them takes most of the time of such a call. Limited: the least recently used blocks are evicted
 * first.
 */
import type { BlockText, BlockTextCache } from '../../interfaces/blockTexts.js';

/** Minimum number of blocks in the cache: a text so large that fewer would fit is not cached. */
const MIN_KEPT = 2;

export class BlockTexts implements BlockTextCache {
  readonly maxBytes: number;
  /** Texts by header id; the most recently used is last. */
  private readonly texts = new Map<number, BlockText>();
  private bytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Memory of the texts: they are ASCII, one byte per character. */
  get sizeBytes(): number {
    return this.bytes;
  }

  /** Longer texts are not cached. */
  get maxChars(): number {
    return Math.floor(this.maxBytes / MIN_KEPT);
  }

  find(block: number): BlockText | undefined {
    const found = this.texts.get(block);
    if (found === undefined) return undefined;
    this.texts.delete(block);
    this.texts.set(block, found);
    return found;
  }

  keep(block: number, text: BlockText): void {
    const { length } = text.transactions;
    if (length > this.maxChars || this.texts.has(block)) return;
    this.texts.set(block, text);
    this.bytes += length;
    for (const [oldest, { transactions }] of this.texts) {
      if (this.bytes <= this.maxBytes) break;
      this.texts.delete(oldest);
      this.bytes -= transactions.length;
    }
  }
}
