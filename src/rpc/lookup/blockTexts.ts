/**
 * Cache of the JSON text of a block's transactions (`getblock` with verbosity 2, REST). The text is constant as long as the
 * block exists, and creating it takes most of the time of such a call. The size is limited; the least recently used blocks
 * are evicted first.
 */
import type { BlockText, BlockTextCache } from '../../interfaces/blockTexts.js';

/** Minimum number of blocks for which the cache must have room. A larger text is not cached. */
const MIN_KEPT = 2;

export class BlockTexts implements BlockTextCache {
  readonly maxBytes: number;
  /** Texts by header id. The most recently used text is last. */
  private readonly texts = new Map<number, BlockText>();
  private bytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Memory used by the texts in bytes. Texts are ASCII, one byte per character. */
  get sizeBytes(): number {
    return this.bytes;
  }

  /** Maximum length in characters of a text that is cached. */
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
