/**
 * Groups of destinations that the chain reveals to have the same owner, updated incrementally. Groups only grow. After a
 * transaction was removed they are rebuilt. Source: lbrycrd wallet/wallet.cpp `GetAddressGroupings`.
 */
import { sortedInSlices, type Slices } from '../../util/slices.js';
import type { Entry, OwnOutput } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';
import { isChange } from './amounts.js';

/** Number of transactions that are processed between two yields to the event loop. */
const STEP = 64;

export class AddressGroups {
  private readonly wallet: Wallet;
  private groups = new Groups();
  /** Processed transactions, with the own outputs that they had when they were processed. */
  private seen = new Map<Entry, readonly OwnOutput[]>();
  private touched = new Set<Entry>();
  private isVoid = true;
  /**
   * Destinations that received payments and are in the address book. Payments to other own destinations count as change,
   * which reveals the owner.
   */
  private booked = new Set<string>();

  constructor(wallet: Wallet) {
    this.wallet = wallet;
    const { ledger, book } = wallet;
    ledger.watch((entry) => {
      if (entry === null) this.isVoid = true;
      else this.touched.add(entry);
    });
    book.watch((destination) => {
      const isBooked = book.at(destination) !== undefined;
      const isPaid = ledger.payingTo(destination).length > 0;
      if (isPaid && isBooked !== this.booked.has(destination)) this.isVoid = true;
    });
  }

  /** All groups of destinations (`destinationKey`), in the order of the reference. */
  *all(): Slices<string[][]> {
    while (this.isVoid || this.touched.size > 0) {
      if (this.isVoid) this.begin();
      let count = 0;
      for (const entry of this.touched) {
        this.touched.delete(entry);
        this.look(entry);
        if (this.isVoid) break;
        if (++count % STEP === 0) yield;
      }
    }
    const lists = yield* this.groups.lists();
    return yield* sortedInSlices(lists, compareLists);
  }

  private begin(): void {
    this.isVoid = false;
    this.groups = new Groups();
    this.seen = new Map();
    this.booked = new Set();
    this.touched = new Set(this.wallet.ledger.all());
  }

  private look(entry: Entry): void {
    const { ledger, book } = this.wallet;
    const known = this.seen.get(entry);
    const isGone = ledger.entry(entry.key) !== entry;
    // The union of two groups cannot be undone, so after a removal all groups must be rebuilt.
    if (known === undefined ? isGone : isGone || known !== entry.outputs) {
      this.isVoid = known !== undefined;
      return;
    }
    this.seen.set(entry, entry.outputs);
    let first: string | null = null;
    for (const input of entry.inputs) {
      const to = ledger.output(input)?.to ?? '';
      if (to === '') continue;
      this.groups.join(first ?? to, to);
      first ??= to;
    }
    for (const output of entry.outputs) {
      if (output.to === '') continue;
      if (book.at(output.to) !== undefined) this.booked.add(output.to);
      const isRelated = first !== null && isChange(this.wallet, output);
      this.groups.join(isRelated ? first! : output.to, output.to);
    }
  }
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < a.length && i < b.length; i++) if (a[i] !== b[i]) return a[i]! < b[i]! ? -1 : 1;
  return a.length - b.length;
}

/** Disjoint sets of destinations with a union operation. */
class Groups {
  private readonly numbers = new Map<string, number>();
  private readonly parents: number[] = [];

  join(a: string, b: string): void {
    const one = this.root(this.number(a));
    const other = this.root(this.number(b));
    if (one !== other) this.parents[Math.max(one, other)] = Math.min(one, other);
  }

  private number(name: string): number {
    let number = this.numbers.get(name);
    if (number === undefined) {
      number = this.parents.push(this.parents.length) - 1;
      this.numbers.set(name, number);
    }
    return number;
  }

  private root(number: number): number {
    let at = number;
    while (this.parents[at] !== at) {
      this.parents[at] = this.parents[this.parents[at]!]!;
      at = this.parents[at]!;
    }
    return at;
  }

  /** Returns the members of each set, sorted. */
  *lists(): Slices<string[][]> {
    const byRoot = new Map<number, string[]>();
    for (const name of yield* sortedInSlices([...this.numbers.keys()], (a, b) => (a < b ? -1 : 1))) {
      const root = this.root(this.numbers.get(name)!);
      const list = byRoot.get(root);
      if (list === undefined) byRoot.set(root, [name]);
      else list.push(name);
    }
    return [...byRoot.values()];
  }
}
