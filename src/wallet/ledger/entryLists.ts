/** Lists of transactions by a shared property, such as their block or a destination. */
import type { Entry } from './entry.js';

const NONE: readonly Entry[] = [];

export class EntryLists {
  /** Transactions by key. A single transaction is stored directly, several in a list. */
  private readonly lists = new Map<string, Entry | Entry[]>();

  /** Transactions in the order in which they were added. The caller must not change the list. */
  of(key: string): readonly Entry[] {
    const known = this.lists.get(key);
    if (known === undefined) return NONE;
    return Array.isArray(known) ? known : [known];
  }

  keys(): IterableIterator<string> {
    return this.lists.keys();
  }

  first(key: string): Entry | undefined {
    const known = this.lists.get(key);
    return Array.isArray(known) ? known[0] : known;
  }

  /**
   * Adds a transaction to the list of a key. Without effect if the transaction is the last one in the list. It must not be
   * at another position of the list.
   */
  add(key: string, entry: Entry): void {
    const known = this.lists.get(key);
    if (known === undefined) this.lists.set(key, entry);
    else if (!Array.isArray(known)) {
      if (known !== entry) this.lists.set(key, [known, entry]);
    } else if (known[known.length - 1] !== entry) known.push(entry);
  }

  remove(key: string, entry: Entry): void {
    const left = this.of(key).filter((other) => other !== entry);
    if (left.length === 0) this.lists.delete(key);
    else this.lists.set(key, left.length === 1 ? left[0]! : left);
  }

  clear(): void {
    this.lists.clear();
  }
}
