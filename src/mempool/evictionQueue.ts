/**
 * Finds the transaction to evict from a full mempool: the one whose package pays least. It is a binary heap, and each entry
 * stores its position in the heap. The heap is built when it is first needed. Source: Core's `descendant_score` index of the
 * pool.
 */
import type { PoolEntry } from './poolEntry.js';

/**
 * Eviction score of an entry: its own fee rate or the fee rate including all descendants, whichever is higher. Source:
 * `CompareTxMemPoolEntryByDescendantScore`.
 */
function scoreOf(entry: PoolEntry): number {
  const own = Number(entry.modifiedFeeSat) / entry.sizeBytes;
  if (entry.descendantCount === 1) return own;
  return Math.max(own, Number(entry.descendantFeesSat) / entry.descendantSizeBytes);
}

/** Whether `a` is evicted before `b`: by lower score, then by later arrival, then by txid, so that the order is total. */
function goesFirst(a: PoolEntry, b: PoolEntry): boolean {
  if (a.evictionScore !== b.evictionScore) return a.evictionScore < b.evictionScore;
  if (a.timeSec !== b.timeSec) return a.timeSec > b.timeSec;
  return a.key < b.key;
}

export class EvictionQueue {
  private heap: PoolEntry[] | null = null;

  /**
   * Entry to evict first; undefined without any entries. `entries` must be all entries of the mempool. It is read only to
   * build the heap.
   */
  first(entries: Iterable<PoolEntry>): PoolEntry | undefined {
    if (!this.heap) {
      this.heap = [...entries];
      this.heap.forEach((entry, i) => {
        entry.evictionScore = scoreOf(entry);
        entry.evictionIndex = i;
      });
      for (let i = (this.heap.length >> 1) - 1; i >= 0; i--) this.sink(this.heap, i);
    }
    return this.heap[0];
  }

  add(entry: PoolEntry): void {
    if (!this.heap) return;
    entry.evictionScore = scoreOf(entry);
    entry.evictionIndex = this.heap.length;
    this.heap.push(entry);
    this.rise(this.heap, entry.evictionIndex);
  }

  /** Moves an entry to its position in the heap. Must be called after the fee or the descendants of the entry have changed. */
  update(entry: PoolEntry): void {
    if (!this.heap || entry.evictionIndex < 0) return;
    const score = scoreOf(entry);
    if (score === entry.evictionScore) return;
    entry.evictionScore = score;
    this.settle(this.heap, entry.evictionIndex);
  }

  remove(entry: PoolEntry): void {
    const { heap } = this;
    const at = entry.evictionIndex;
    if (!heap || at < 0) return;
    const last = heap.pop()!;
    entry.evictionIndex = -1;
    if (last === entry) return;
    this.put(heap, at, last);
    this.settle(heap, at);
  }

  private put(heap: PoolEntry[], at: number, entry: PoolEntry): void {
    heap[at] = entry;
    entry.evictionIndex = at;
  }

  private settle(heap: PoolEntry[], at: number): void {
    if (this.rise(heap, at) === at) this.sink(heap, at);
  }

  /** Moves an entry towards the top of the heap. Returns its new position. */
  private rise(heap: PoolEntry[], from: number): number {
    const entry = heap[from]!;
    let at = from;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (!goesFirst(entry, heap[up]!)) break;
      this.put(heap, at, heap[up]!);
      at = up;
    }
    this.put(heap, at, entry);
    return at;
  }

  private sink(heap: PoolEntry[], from: number): void {
    const entry = heap[from]!;
    let at = from;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= heap.length) break;
      if (down + 1 < heap.length && goesFirst(heap[down + 1]!, heap[down]!)) down++;
      if (!goesFirst(heap[down]!, entry)) break;
      this.put(heap, at, heap[down]!);
      at = down;
    }
    this.put(heap, at, entry);
  }
}
