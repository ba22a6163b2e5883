/**
 * The wallet's transactions in order of arrival. Transactions in typed arrays (columns) are sorted already. Their entry
 * objects are created when they are needed.
 */
import { sortedInSlices, type Slices } from '../../util/slices.js';
import type { Entry } from './entry.js';
import type { SleepingTxs } from './sleepingTxs.js';

export class OrderedEntries implements Iterable<Entry> {
  private readonly held: ReadonlyMap<string, Entry>;
  private sleeping: SleepingTxs | null = null;
  /**
   * The transactions in order: entry objects, or row numbers of `sleeping`. A row in this list may have been removed later.
   * Null if the order must be computed again.
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

  /** Sorts the transactions if they are not sorted yet. Returns this object. */
  ready(): this {
    this.found ??= this.merged([...this.held.values()].sort(byOrder));
    return this;
  }

  /** Sorts the transactions in slices. */
  *sort(): Slices<void> {
    this.found = this.merged(yield* sortedInSlices([...this.held.values()], byOrder));
  }

  /** Merges the sorted entries in memory with the transactions in columns, which are sorted too. */
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

  /** Returns the transaction at a position of the order. */
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
