/** The wallet's transactions by the block that their rows name: one that holds them, or that they conflict with. */
import { fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import type { Entry } from './entry.js';
import { EntryLists } from './entryLists.js';
import { ABANDONED, NO_BLOCK } from './txRecord.js';

const NO_BLOCK_KEY = toLatin1(NO_BLOCK);
const ABANDONED_KEY = toLatin1(ABANDONED);

export class BlockEntries {
  private readonly lists = new EntryLists();
  /** The hash that was asked for last, with its key: those that follow one another often name the same block. */
  private latest = { key: NO_BLOCK_KEY, hash: NO_BLOCK };

  /**
   * The hash that a key (a byte a character) stands for, as entries are to keep it: the same object for all that name a block,
   * `NO_BLOCK` or `ABANDONED` for those.
   */
  hash(key: string): Bytes {
    if (key === this.latest.key) return this.latest.hash;
    const hash =
      key === NO_BLOCK_KEY
        ? NO_BLOCK
        : key === ABANDONED_KEY
          ? ABANDONED
          : (this.lists.first(key)?.row.blockHash ?? ownCopy(key));
    this.latest = { key, hash };
    return hash;
  }

  of(blockHash: Bytes): readonly Entry[] {
    return this.lists.of(toLatin1(blockHash));
  }

  add(entry: Entry): void {
    const key = this.keyOf(entry);
    if (key !== null) this.lists.add(key, entry);
  }

  remove(entry: Entry): void {
    const key = this.keyOf(entry);
    if (key !== null) this.lists.remove(key, entry);
  }

  private keyOf({ row: { blockHash } }: Entry): string | null {
    if (blockHash === NO_BLOCK || blockHash === ABANDONED) return null;
    return blockHash === this.latest.hash ? this.latest.key : toLatin1(blockHash);
  }
}

/** Bytes that keep no more memory alive than their own. */
function ownCopy(key: string): Bytes {
  return Uint8Array.prototype.slice.call(fromLatin1(key));
}
