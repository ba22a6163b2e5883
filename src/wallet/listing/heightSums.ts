/** Amounts by the height of their blocks, so that the sum of all up to a height is found without adding them up. */

interface AtHeight {
  sat: bigint;
  count: number;
}

/** A sum, and the highest block that has a part in it. */
export interface HeightSum {
  readonly sumSat: bigint;
  readonly height: number;
}

export class HeightSums {
  private readonly byHeight = new Map<number, AtHeight>();
  /** In ascending order where `isSorted`. Some may have nothing any more. */
  private heights: number[] = [];
  private isSorted = true;
  /** What all heights up to the one at the same place have together, as far as it was worked out. */
  private sums: bigint[] = [];
  /** Heights that have nothing any more. */
  private emptyCount = 0;

  add(height: number, sat: bigint): void {
    this.change(height, sat, 1);
  }

  /** The opposite of `add`. */
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

  /** Whether there is nothing at any height. */
  get isEmpty(): boolean {
    return this.byHeight.size === this.emptyCount;
  }

  /** All up to a height, that included; null if there is none. */
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

  /** The place of the first height above one. */
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
