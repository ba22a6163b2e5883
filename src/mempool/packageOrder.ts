/**
 * The transactions of the mempool in the order in which a block considers them, kept from one block template to the next:
 * only new and changed entries are sorted again. Costs nothing until the first use. Source: Core's `ancestor_score` index of
 * the pool, `CompareTxMemPoolEntryByAncestorFee`.
 */
import { yieldIfDue } from '../scheduler/yield.js';
import { compareByKey, type PoolEntry } from './poolEntry.js';
import type { TxPool } from './txPool.js';

/** Entries sorted between two possible pauses. Arbitrary: a few milliseconds. */
const ENTRIES_AT_ONCE = 4000;
/** Lists are merged again when more than one in this many of their items is outdated or recent. Arbitrary. */
const LOOSE_SHARE = 16;

/** Score of a package: fee rate of the entry alone or with its ancestors, whichever is lower. */
export function packageScore(entry: PoolEntry, sizeBytes: number, feesSat: bigint): number {
  const own = Number(entry.modifiedFeeSat) / entry.sizeBytes;
  return sizeBytes === entry.sizeBytes ? own : Math.min(own, Number(feesSat) / sizeBytes);
}

export interface Scored {
  readonly entry: PoolEntry;
  readonly score: number;
}

/** Negative when `a` comes before `b`: by higher score, then by lower txid. */
export function comparePackages(a: Scored, b: Scored): number {
  return b.score - a.score || compareByKey(a.entry, b.entry);
}

/** Whether the entry is still in the mempool with this score. */
function isValid(item: Scored): boolean {
  return item.entry.package === item;
}

/** Iterates over all packages, the best first. Valid until the pool changes. */
export interface PackageWalk {
  readonly best: Scored | undefined;
  /** Advances to the next package. */
  drop(): void;
}

export class PackageOrder {
  private readonly pool: TxPool;
  /** Sorted lists with every sorted entry, the longest list first; they may contain outdated items. */
  private lists: Scored[][] = [];

  constructor(pool: TxPool) {
    this.pool = pool;
  }

  /** Sorts new entries in slices, so that a following `walk` has little to do. */
  async prepare(): Promise<void> {
    let since = performance.now();
    while (this.place(ENTRIES_AT_ONCE)) since = await yieldIfDue(since);
    while (this.lists.length > 2 || this.isLoose()) {
      this.mergeLast();
      since = await yieldIfDue(since);
    }
  }

  /** All entries with the scores of their whole packages. */
  walk(): PackageWalk {
    this.place(Infinity);
    while (this.lists.length > 2 || this.isLoose()) this.mergeLast();
    const [longest = [], recent = []] = this.lists;
    return new TwoLists(longest, recent);
  }

  /** Whether many items of the lists are recent or outdated. */
  private isLoose(): boolean {
    let items = 0;
    for (const list of this.lists) items += list.length;
    const recent = items - (this.lists[0]?.length ?? 0);
    return (recent + items - this.pool.size) * LOOSE_SHARE > this.pool.size;
  }

  /** Sorts some of the unsorted entries into the lists; returns whether there may be more. */
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
