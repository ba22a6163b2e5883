/** Sums of amounts by block height, with cumulative sums up to a height. */

interface AtHeight {
  sat: bigint;
  count: number;
}

/** A cumulative sum, and the height of the highest block that contributes to it. */
export interface HeightSum {
  readonly sumSat: bigint;
  readonly height: number;
}

export class HeightSums {
  private readonly byHeight = new Map<number, AtHeight>();
  /**
   * Heights with amounts, in ascending order if `isSorted` is set. A height stays in the list after all its amounts were
   * subtracted.
   */
  private heights: number[] = [];
  private isSorted = true;
  /** Cumulative sum up to `heights[i]` at index i, as far as it was computed. */
  private sums: bigint[] = [];
  /** Number of heights in the list whose amounts were all subtracted. */
  private emptyCount = 0;

  add(height: number, sat: bigint): void {
    this.change(height, sat, 1);
  }

  /** Removes an amount that was added with `add`. */
  take(height: number, sat: bigint): void {
    this.change(height, -sat, -1);
  }

  private change(height: number, sat: bigint, count: number): void {
    const known = this.byHeight.get(height);
    if (known === undefined) {
      const last = this.heights.at(-1);
      if (last !== undefined && last > height) this.isSorted = false;
      this.heights.push(height);
      this.byHeight.set(height, { sat, count });
      return;
    }
    if (known.count === 0) this.emptyCount--;
    known.sat += sat;
    known.count += count;
    if (known.count === 0) this.emptyCount++;
    if (this.isSorted) this.sums.length = Math.min(this.sums.length, this.firstAbove(height - 1));
    while (this.isSorted && this.emptyCount > 0 && this.at(this.heights.length - 1).count === 0)
      this.dropLast();
  }

  private dropLast(): void {
    this.byHeight.delete(this.heights.pop()!);
    this.sums.length = Math.min(this.sums.length, this.heights.length);
    this.emptyCount--;
  }

  private at(place: number): AtHeight {
    return this.byHeight.get(this.heights[place]!)!;
  }

  /** Whether the sums contain no amounts. */
  get isEmpty(): boolean {
    return this.byHeight.size === this.emptyCount;
  }

  /** Sum of the amounts up to and including a height; null if there are none. */
  upTo(height: number): HeightSum | null {
    this.sort();
    let place = this.firstAbove(height) - 1;
    if (place < 0) return null;
    for (let n = this.sums.length; n <= place; n++) this.sums.push((this.sums[n - 1] ?? 0n) + this.at(n).sat);
    const sumSat = this.sums[place]!;
    while (place >= 0 && this.at(place).count === 0) place--;
    return place < 0 ? null : { sumSat, height: this.heights[place]! };
  }

  private sort(): void {
    if (this.isSorted && this.emptyCount * 2 <= this.heights.length) return;
    for (const [height, { count }] of this.byHeight) if (count === 0) this.byHeight.delete(height);
    this.heights = [...this.byHeight.keys()].sort((a, b) => a - b);
    this.emptyCount = 0;
    this.sums = [];
    this.isSorted = true;
  }

  /** Index in `heights` of the first height above `height`. */
  private firstAbove(height: number): number {
    let [low, high] = [0, this.heights.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.heights[middle]! <= height) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
