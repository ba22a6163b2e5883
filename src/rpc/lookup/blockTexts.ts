/**
 * The transactions of blocks as text, the way answers show them (`getblock` with verbosity 2, REST): they are the same for as
 * long as there is the block, whatever comes after it, and making them takes most of such an answer's time. Bounded: the
 * blocks not asked for the longest go first.
 */
import type { BlockText, BlockTextCache } from '../../interfaces/blockTexts.js';

/** The min kept of a block that one of this many would not fit beside nothing is kept. */
const MIN_KEPT = 2;

export class BlockTexts implements BlockTextCache {
  readonly maxBytes: number;
  /** Texts by header id; the most recently used is last. */
  private readonly texts = new Map<number, BlockText>();
  private bytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Memory taken by the texts: they are ASCII, a byte a character. */
  get sizeBytes(): number {
    return this.bytes;
  }

  /** Longer texts are not kept. */
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
