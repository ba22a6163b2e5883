/**
 * The keys of one pool in ascending order of pool index. Keys from the wallet image stay in typed arrays (`packedKeys.ts`)
 * and are read one by one.
 */
import type { PoolKey } from './keyRecords.js';
import type { PackedKeys } from './packedKeys.js';

/** In `poolFlags`. */
export const IS_INTERNAL = 1;
export const IS_PRE_SPLIT = 2;

export class PoolList implements Iterable<[index: number, key: PoolKey]> {
  /** Keys in memory by pool index, in ascending order of the index. */
  private readonly held = new Map<number, PoolKey>();
  private packed: PackedKeys | null = null;
  /** `numbers`: numbers of the keys in `packed`, by ascending pool index. `from`: entries before this position were deleted. */
  private numbers: Uint32Array = new Uint32Array(0);
  private from = 0;
  /** Pool indexes of deleted entries at or after `from`. */
  private readonly gone = new Set<number>();

  begin(packed: PackedKeys, numbers: Uint32Array): void {
    this.packed = packed;
    this.numbers = numbers;
  }

  get size(): number {
    return this.held.size + this.numbers.length - this.from - this.gone.size;
  }

  private indexAt(place: number): number {
    return this.packed!.columns.poolIndexes[this.numbers[place]!]!;
  }

  /** Position in `numbers` of a pool index; −1 if it is absent or deleted. */
  private placeOf(index: number): number {
    let [low, high] = [this.from, this.numbers.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.indexAt(middle) < index) low = middle + 1;
      else high = middle;
    }
    return low < this.numbers.length && this.indexAt(low) === index && !this.gone.has(index) ? low : -1;
  }

  has(index: number): boolean {
    return this.held.has(index) || this.placeOf(index) >= 0;
  }

  private packedKey(place: number): PoolKey {
    const { columns } = this.packed!;
    const number = this.numbers[place]!;
    const flags = columns.poolFlags[number]!;
    return {
      createdSec: columns.poolSecs[number]!,
      publicKey: this.packed!.publicKey(number),
      isInternal: (flags & IS_INTERNAL) !== 0,
      isPreSplit: (flags & IS_PRE_SPLIT) !== 0,
    };
  }

  set(index: number, key: PoolKey): void {
    this.delete(index);
    this.held.set(index, key);
  }

  delete(index: number): void {
    if (this.held.delete(index)) return;
    const place = this.placeOf(index);
    if (place < 0) return;
    this.gone.add(index);
    // Keys are mostly deleted from the front of the list, so `from` advances.
    while (this.from < this.numbers.length && this.gone.delete(this.indexAt(this.from))) this.from++;
  }

  clear(): void {
    this.held.clear();
    this.gone.clear();
    this.numbers = new Uint32Array(0);
    this.from = 0;
  }

  /** Sorts the keys in memory. Needed after keys were added out of order. */
  sort(): void {
    const sorted = [...this.held].sort(([a], [b]) => a - b);
    this.held.clear();
    for (const [index, key] of sorted) this.held.set(index, key);
  }

  /** Yields entries by ascending pool index. The iteration may end early if an entry is deleted while it runs. */
  *[Symbol.iterator](): Generator<[index: number, key: PoolKey]> {
    const held = this.held[Symbol.iterator]();
    let next = held.next();
    for (let place = this.from; place < this.numbers.length; place++) {
      const index = this.indexAt(place);
      if (this.gone.has(index)) continue;
      for (; next.done !== true && next.value[0] < index; next = held.next()) yield next.value;
      yield [index, this.packedKey(place)];
      // During the iteration a deletion can only increase `from`.
      place = Math.max(place, this.from - 1);
    }
    for (; next.done !== true; next = held.next()) yield next.value;
  }

  /** The keys that are not in `packed`. */
  inMemory(): Iterable<[index: number, key: PoolKey]> {
    return this.held;
  }

  *keys(): Generator<number> {
    for (const [index] of this) yield index;
  }
}
