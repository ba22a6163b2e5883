/**
 * Counts late reads: rows that connecting or disconnecting a block used without having prefetched them. Such a row is read
 * synchronously, which is slower but has no other effect. A growing number shows a gap in the prefetching.
 */
export type LateRow = 'name' | 'item' | 'node';

export class LateReads {
  private readonly onFirst: (row: LateRow) => void;
  private readonly counts: Record<LateRow, number> = { name: 0, item: 0, node: 0 };

  /** `onFirst` is called once, at the first late read (a read of a row that was not prefetched), with the type of the row. */
  constructor(onFirst: (row: LateRow) => void = () => undefined) {
    this.onFirst = onFirst;
  }

  count(row: LateRow): void {
    const isFirst = this.total === 0;
    this.counts[row]++;
    if (isFirst) this.onFirst(row);
  }

  /** Number of reads of rows that were not prefetched, since the start, by row type. */
  get byRow(): Readonly<Record<LateRow, number>> {
    return this.counts;
  }

  get total(): number {
    return this.counts.name + this.counts.item + this.counts.node;
  }
}
