/**
 * Counts the rows that connecting or disconnecting blocks used and had not fetched ahead. Each was read on the thread of
 * the work, which is slower and makes no other difference; a number that grows shows a gap in the fetching.
 */
export type LateRow = 'name' | 'item' | 'node';

export class LateReads {
  private readonly onFirst: (row: LateRow) => void;
  private readonly counts: Record<LateRow, number> = { name: 0, item: 0, node: 0 };

  /** `onFirst` is called at the first late read of all. */
  constructor(onFirst: (row: LateRow) => void = () => undefined) {
    this.onFirst = onFirst;
  }

  count(row: LateRow): void {
    const isFirst = this.total === 0;
    this.counts[row]++;
    if (isFirst) this.onFirst(row);
  }

  /** Late reads since the start, by kind of row. */
  get byRow(): Readonly<Record<LateRow, number>> {
    return this.counts;
  }

  get total(): number {
    return this.counts.name + this.counts.item + this.counts.node;
  }
}
