/**
 * The blocks that may become the tip: their data and that of all ancestors is stored, and they are not worse than the tip.
 * Among blocks of equal work the first to arrive is preferred, unless `preciousblock` changed this. Source: Core's
 * `setBlockIndexCandidates`, `CBlockIndexWorkComparator`, `nSequenceId`.
 */
import { MAX_BLOCK_FILE_BYTES } from '../../store/files/blockFiles.js';
import { NO_HEADER, type HeaderTable } from '../../store/files/headerTable.js';

/**
 * Number of candidates from which worse ones are removed only when the tip is the best candidate. Checking all of them at
 * each block would take quadratic time (`-reindex-chainstate`: every block is a candidate). Arbitrary.
 */
const MANY = 64;

export class Candidates {
  private readonly headers: HeaderTable;
  private ids = new Set<number>();
  /** The best candidate; null if the set must be searched. */
  private found: number | null = null;
  /**
   * For each block, its time of becoming connectable: the latest arrival among the block and its ancestors. Arrival is the
   * position in the block files, so the order survives a restart.
   */
  private linked = new Float64Array(1024);
  /** Ranks set by `preciousblock`. Ranks are negative; a lower rank is better. They are lost at a restart. */
  private readonly precious = new Map<number, number>();

  constructor(headers: HeaderTable) {
    this.headers = headers;
  }

  private arrival(id: number): number {
    const { file, offset } = this.headers.dataPosition(id);
    return Math.max(0, file) * MAX_BLOCK_FILE_BYTES + offset;
  }

  /** Records that the data of `id` and of all its ancestors is stored. Must be called for parents before children. */
  link(id: number): void {
    if (id >= this.linked.length) {
      const larger = new Float64Array(Math.max(id + 1024, Math.ceil(this.linked.length * 1.5)));
      larger.set(this.linked);
      this.linked = larger;
    }
    const prev = this.headers.prev(id);
    this.linked[id] = Math.max(this.arrival(id), prev === NO_HEADER ? 0 : this.linked[prev]!);
    this.found = null;
  }

  setPrecious(id: number, rank: number): void {
    this.precious.set(id, rank);
    this.found = null;
  }

  /** Returns a negative number when `a` is a worse tip than `b`. This is a total order: only a block and itself are equal. */
  compare(a: number, b: number): number {
    if (a === b) return 0;
    const work = this.headers.compareWork(a, b);
    if (work !== 0) return work;
    const rank = (this.precious.get(b) ?? 0) - (this.precious.get(a) ?? 0);
    if (rank !== 0) return rank;
    const linked = this.linked[b]! - this.linked[a]!;
    return linked !== 0 ? linked : this.compareLinkedTogether(a, b);
  }

  /**
   * Compares two blocks that became connectable when the data of one common ancestor arrived late. The lower block comes
   * first. At equal heights, the branches are ordered by the arrival of the two siblings at which they separate. Source: the
   * queue of `ReceivedBlockTransactions`.
   */
  private compareLinkedTogether(a: number, b: number): number {
    const { headers } = this;
    const level = headers.height(b) - headers.height(a);
    if (level !== 0) return level;
    while (headers.prev(a) !== headers.prev(b)) {
      a = headers.prev(a);
      b = headers.prev(b);
    }
    return this.arrival(b) - this.arrival(a);
  }

  add(id: number): void {
    this.ids.add(id);
    if (this.found !== null && (this.found === NO_HEADER || this.compare(id, this.found) > 0))
      this.found = id;
  }

  delete(id: number): void {
    this.ids.delete(id);
    if (this.found === id) this.found = null;
  }

  has(id: number): boolean {
    return this.ids.has(id);
  }

  best(): number {
    if (this.found !== null) return this.found;
    let best: number = NO_HEADER;
    for (const id of this.ids) if (best === NO_HEADER || this.compare(id, best) > 0) best = id;
    return (this.found = best);
  }

  /**
   * Removes candidates that are worse than the tip. If there are many candidates, this is done only when the tip is the best
   * of them.
   */
  prune(tip: number): void {
    if (this.ids.size <= MANY) {
      for (const id of this.ids) if (this.compare(id, tip) < 0) this.delete(id);
    } else if (this.best() === tip) {
      this.ids = new Set([tip]);
    }
  }

  clear(): void {
    this.ids.clear();
    this.found = null;
  }
}
