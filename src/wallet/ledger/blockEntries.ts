/** Index of the wallet's transactions by the block in their rows. This block contains the transaction or conflicts with it. */
import { fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import type { Entry } from './entry.js';
import { EntryLists } from './entryLists.js';
import { ABANDONED, NO_BLOCK } from './txRecord.js';

const NO_BLOCK_KEY = toLatin1(NO_BLOCK);
const ABANDONED_KEY = toLatin1(ABANDONED);

export class BlockEntries {
  private readonly lists = new EntryLists();
  /** The block hash that was requested last, and its key. Successive transactions often have the same block. */
  private latest = { key: NO_BLOCK_KEY, hash: NO_BLOCK };

  /**
   * The block hash object for a key (latin1). All transactions share one object for each block, also for `NO_BLOCK` and
   * `ABANDONED`.
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

/** A copy of the hash with its own memory, so that no larger buffer is kept alive. */
function ownCopy(key: string): Bytes {
  return Uint8Array.prototype.slice.call(fromLatin1(key));
}
