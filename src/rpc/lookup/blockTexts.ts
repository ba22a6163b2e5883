/**
 * Cache of the JSON text of a block's transactions or of their ids (`getblock` with verbosity 2 and 1, REST). The text is constant as long as the
 * block exists, and creating it takes most of the time of such a call. The size is limited; the least recently used blocks
 * are evicted first.
 */
import type { BlockPart, BlockText, BlockTextCache } from '../../interfaces/blockTexts.js';

/** Minimum number of texts of one length that the cache can hold. A longer text is not cached. */
const MIN_KEPT = 2;

/** Key of a text: the header id of the block times 2, plus 1 for the part `ids`. */
function keyOf(block: number, part: BlockPart): number {
  return 2 * block + (part === 'ids' ? 1 : 0);
}

export class BlockTexts implements BlockTextCache {
  readonly maxBytes: number;
  /** Texts by `keyOf`. The most recently used text is last. */
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

  find(block: number, part: BlockPart): BlockText | undefined {
    const key = keyOf(block, part);
    const found = this.texts.get(key);
    if (found === undefined) return undefined;
    this.texts.delete(key);
    this.texts.set(key, found);
    return found;
  }

  keep(block: number, part: BlockPart, text: BlockText): void {
    const { length } = text.transactions;
    const key = keyOf(block, part);
    if (length > this.maxChars || this.texts.has(key)) return;
    this.texts.set(key, text);
    this.bytes += length;
    for (const [oldest, { transactions }] of this.texts) {
      if (this.bytes <= this.maxBytes) break;
      this.texts.delete(oldest);
      this.bytes -= transactions.length;
    }
  }
}
