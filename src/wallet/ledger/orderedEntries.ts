/**
 * The wallet's transactions in order of arrival. Transactions in typed arrays (columns) are already in order. Their entry
 * objects are created on access.
 */
import { sortedInSlices, type Slices } from '../../util/slices.js';
import type { Entry } from './entry.js';
import type { SleepingTxs } from './sleepingTxs.js';

export class OrderedEntries implements Iterable<Entry> {
  private readonly held: ReadonlyMap<string, Entry>;
  private sleeping: SleepingTxs | null = null;
  /**
   * The order: transaction objects, or row numbers of `sleeping`. A row may have been removed since. Null if the order must
   * be computed again.
   */
  private found: (Entry | number)[] | null = null;

  /** `held`: the transactions that are in memory. */
  constructor(held: ReadonlyMap<string, Entry>) {
    this.held = held;
  }

  begin(sleeping: SleepingTxs): void {
    this.sleeping = sleeping;
    this.found = null;
  }

  forget(): void {
    this.found = null;
  }

  /** Adds a transaction to the order. */
  add(entry: Entry): void {
    const { found } = this;
    if (found === null || found.length === 0) return this.forget();
    if (this.orderPosOf(found[found.length - 1]!) < entry.orderPos) found.push(entry);
    else this.forget();
  }

  /** Computes the order if necessary. */
  ready(): this {
    this.found ??= this.merged([...this.held.values()].sort(byOrder));
    return this;
  }

  /** Computes the order, and yields between slices of the work. */
  *sort(): Slices<void> {
    this.found = this.merged(yield* sortedInSlices([...this.held.values()], byOrder));
  }

  /** Merges the sorted entries in memory with the transactions in columns. */
  private merged(held: readonly Entry[]): (Entry | number)[] {
    const { sleeping } = this;
    if (sleeping === null || sleeping.size === 0) return [...held];
    const { order, orderPos } = sleeping.txs.columns;
    const all: (Entry | number)[] = [];
    let next = 0;
    for (const row of order) {
      if (!sleeping.has(row)) continue;
      while (next < held.length && held[next]!.orderPos < orderPos[row]!) all.push(held[next++]!);
      all.push(row);
    }
    while (next < held.length) all.push(held[next++]!);
    return all;
  }

  private orderPosOf(one: Entry | number): number {
    return typeof one === 'number' ? this.sleeping!.txs.columns.orderPos[one]! : one.orderPos;
  }

  get length(): number {
    return this.ready().found!.length;
  }

  /** Returns the transaction at a position. */
  at(place: number): Entry {
    const one = this.ready().found![place]!;
    if (typeof one !== 'number') return one;
    const sleeping = this.sleeping!;
    return sleeping.has(one) ? sleeping.entry(one) : this.held.get(sleeping.txs.key(one))!;
  }

  *[Symbol.iterator](): Generator<Entry> {
    for (let place = 0; place < this.length; place++) yield this.at(place);
  }

  /** Copies the transactions to a list. */
  toArray(): Entry[] {
    return [...this];
  }
}

const byOrder = (a: Entry, b: Entry): number => a.orderPos - b.orderPos;
