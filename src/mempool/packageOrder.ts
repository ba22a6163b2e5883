/**
 * The transactions of the mempool in the order in which a block considers them, cached from one block template to the next,
 * so that only new and changed entries are sorted again. No order is maintained until the first use. Source: Core's
 * `ancestor_score` index of the pool, `CompareTxMemPoolEntryByAncestorFee`.
 */
import { yieldIfDue } from '../scheduler/yield.js';
import { compareByKey, type PoolEntry } from './poolEntry.js';
import type { TxPool } from './txPool.js';

/**
 * Number of entries that are sorted between two checks whether to yield to the event loop. Arbitrary: takes a few
 * milliseconds.
 */
const ENTRIES_AT_ONCE = 4000;
/** The lists are merged again if more than one of this number of entries is outdated or outside the longest list. Arbitrary. */
const LOOSE_SHARE = 16;

/** Score of a package: the fee rate of the entry alone or the fee rate including its ancestors, whichever is lower. */
export function packageScore(entry: PoolEntry, sizeBytes: number, feesSat: bigint): number {
  const own = Number(entry.modifiedFeeSat) / entry.sizeBytes;
  return sizeBytes === entry.sizeBytes ? own : Math.min(own, Number(feesSat) / sizeBytes);
}

export interface Scored {
  readonly entry: PoolEntry;
  readonly score: number;
}

/** Comparison for sorting: packages with a higher score come first; with equal scores, those with a lower txid. */
export function comparePackages(a: Scored, b: Scored): number {
  return b.score - a.score || compareByKey(a.entry, b.entry);
}

/** Whether the item is still the current item of its entry. It is outdated if the entry changed or left the mempool. */
function isValid(item: Scored): boolean {
  return item.entry.package === item;
}

/** Iterates over all packages, from the best. Valid until the pool changes. */
export interface PackageWalk {
  readonly best: Scored | undefined;
  /** Advances to the next package. */
  drop(): void;
}

export class PackageOrder {
  private readonly pool: TxPool;
  /** Sorted lists that together contain every sorted entry. The first list is the longest. A list may contain outdated items. */
  private lists: Scored[][] = [];

  constructor(pool: TxPool) {
    this.pool = pool;
  }

  /** Sorts new entries and yields to the event loop in between, so that a later `walk` takes less time. */
  async prepare(): Promise<void> {
    let since = performance.now();
    while (this.place(ENTRIES_AT_ONCE)) since = await yieldIfDue(since);
    while (this.lists.length > 2 || this.isLoose()) {
      this.mergeLast();
      since = await yieldIfDue(since);
    }
  }

  /** Returns an iterator over all entries with the scores of their packages. */
  walk(): PackageWalk {
    this.place(Infinity);
    while (this.lists.length > 2 || this.isLoose()) this.mergeLast();
    const [longest = [], recent = []] = this.lists;
    return new TwoLists(longest, recent);
  }

  /** Whether the lists must be merged, because many items are outdated or outside the longest list. */
  private isLoose(): boolean {
    let items = 0;
    for (const list of this.lists) items += list.length;
    const recent = items - (this.lists[0]?.length ?? 0);
    return (recent + items - this.pool.size) * LOOSE_SHARE > this.pool.size;
  }

  /** Sorts up to `atMost` unsorted entries into a new list. Returns whether there may be more unsorted entries. */
  private place(atMost: number): boolean {
    const news: Scored[] = [];
    for (const entry of this.pool.entries()) {
      if (entry.package !== null) continue;
      if (news.length === atMost) break;
      const score = packageScore(entry, entry.ancestorSizeBytes, entry.ancestorFeesSat);
      entry.package = { entry, score };
      news.push(entry.package);
    }
    if (news.length > 0) this.lists.push(news.sort(comparePackages));
    this.lists.sort((a, b) => b.length - a.length);
    return news.length === atMost;
  }

  private mergeLast(): void {
    const [last = [], next = []] = [this.lists.pop(), this.lists.pop()];
    this.lists.push(mergeValid(next, last));
    this.lists.sort((a, b) => b.length - a.length);
  }
}

function mergeValid(a: readonly Scored[], b: readonly Scored[]): Scored[] {
  const merged: Scored[] = [];
  const walk = new TwoLists(a, b);
  for (; walk.best; walk.drop()) merged.push(walk.best);
  return merged;
}

class TwoLists implements PackageWalk {
  best: Scored | undefined;
  private readonly a: readonly Scored[];
  private readonly b: readonly Scored[];
  private nextA = 0;
  private nextB = 0;

  constructor(a: readonly Scored[], b: readonly Scored[]) {
    this.a = a;
    this.b = b;
    this.drop();
  }

  drop(): void {
    const { a, b } = this;
    while (this.nextA < a.length && !isValid(a[this.nextA]!)) this.nextA++;
    while (this.nextB < b.length && !isValid(b[this.nextB]!)) this.nextB++;
    const [one, other] = [a[this.nextA], b[this.nextB]];
    if (one && (!other || comparePackages(one, other) < 0)) {
      this.nextA++;
      this.best = one;
    } else {
      this.nextB++;
      this.best = other;
    }
  }
}
