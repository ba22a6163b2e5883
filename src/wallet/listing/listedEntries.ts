/**
 * Which transactions a list may show, kept up to date for the lists that were asked for last: by label or account, and by
 * what counts as the wallet's. The first question about a list looks at all that could be in it; later ones at what has
 * changed. Memory: a reference and a number for each transaction of each list.
 */
import { sortedInSlices, type Slices } from '../../util/slices.js';
import type { Entry } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';
import { listedCounts } from './amounts.js';
import { listsReceived, listsSent, type Selection } from './selection.js';

/** Lists that are kept; arbitrary. */
const MAX_LISTS = 8;
/** Number of changes since the last query beyond which a list is rebuilt. Arbitrary. */
const MAX_TOUCHED = 16_384;
/** Entries looked at between two pauses. */
const STEP = 256;

type What = Pick<Selection, 'filter' | 'label' | 'withAccounts'>;

interface Kept {
  readonly name: string;
  readonly list: OrderedEntries;
  /** Changed since they were looked at. */
  readonly touched: Set<Entry>;
  /** This much has changed that it is of no use any more. */
  isStale: boolean;
}

export class ListedEntries {
  private readonly wallet: Wallet;
  /** Complete lists; the most recently used is last. */
  private readonly lists = new Map<string, Kept>();
  /** Lists in use, complete or not, with the number of users. */
  private readonly inUse = new Map<Kept, number>();

  constructor(wallet: Wallet) {
    this.wallet = wallet;
    const { ledger, book } = wallet;
    ledger.watch((entry) => this.touch(entry === null ? null : [entry]));
    book.watch((destination) => this.touch(ledger.payingTo(destination)));
  }

  /** Null for all. */
  private touch(entries: readonly Entry[] | null): void {
    for (const kept of new Set([...this.lists.values(), ...this.inUse.keys()])) {
      for (const entry of entries ?? []) kept.touched.add(entry);
      if (entries !== null && kept.touched.size <= MAX_TOUCHED) continue;
      kept.isStale = true;
      kept.touched.clear();
      if (this.lists.get(kept.name) === kept) this.lists.delete(kept.name);
    }
  }

  /**
   * All that may have items in a list, the first that came first. They are that, and not to be changed, until something
   * else has a turn.
   */
  *of(what: What): Slices<readonly Entry[]> {
    const { filter, label, withAccounts } = what;
    const name = `${filter} ${withAccounts} ${label === null ? '*' : `=${label}`}`;
    for (;;) {
      const known = this.lists.get(name);
      const kept = known ?? { name, list: new OrderedEntries(), touched: new Set(), isStale: false };
      this.inUse.set(kept, (this.inUse.get(kept) ?? 0) + 1);
      try {
        if (known === undefined) yield* this.fill(what, kept);
        yield* this.refresh(what, kept);
      } finally {
        const users = this.inUse.get(kept)! - 1;
        if (users === 0) this.inUse.delete(kept);
        else this.inUse.set(kept, users);
      }
      if (!kept.isStale) {
        this.keep(kept);
        return kept.list.entries;
      }
      yield;
    }
  }

  /** Stores a list; of concurrent ones the last one is kept. */
  private keep(kept: Kept): void {
    this.lists.delete(kept.name);
    this.lists.set(kept.name, kept);
    const [oldest] = this.lists.keys();
    if (this.lists.size > MAX_LISTS) this.lists.delete(oldest!);
  }

  private *fill(what: What, { list }: Kept): Slices<void> {
    const { ledger } = this.wallet;
    const { label } = what;
    const found = label === null || label === '' ? ledger.inOrder().toArray() : yield* this.withLabel(label);
    let count = 0;
    for (const entry of found) {
      if (this.isListed(what, entry)) list.insert(entry);
      if (++count % STEP === 0) yield;
    }
  }

  /** What pays to addresses with a label, or was sent from it as an account; by their order. */
  private *withLabel(label: string): Slices<readonly Entry[]> {
    const { book, ledger } = this.wallet;
    const found = new Set(ledger.paidBy(label));
    yield;
    let count = 0;
    for (const destination of book.destinationsWithLabel(label))
      for (const entry of ledger.payingTo(destination)) {
        found.add(entry);
        if (++count % STEP === 0) yield;
      }
    return yield* sortedInSlices([...found], (a, b) => a.orderPos - b.orderPos);
  }

  private *refresh(what: What, { list, touched }: Kept): Slices<void> {
    let count = 0;
    // What is touched during a pause has its turn, too.
    for (const entry of touched) {
      touched.delete(entry);
      list.remove(entry);
      if (this.isListed(what, entry)) list.insert(entry);
      if (++count % STEP === 0) yield;
    }
  }

  /** Whether it may have items, however deep it lies. */
  private isListed(what: What, entry: Entry): boolean {
    const { wallet } = this;
    if (wallet.ledger.entry(entry.key) !== entry) return false;
    const { sent, received } = listedCounts(wallet, entry, what.filter);
    return (sent > 0 && listsSent(what, entry)) || received.some(({ to }) => listsReceived(wallet, what, to));
  }
}

/** Entries by the places that they had in the order of all when they were put in. */
class OrderedEntries {
  /** The first that came first. */
  readonly entries: Entry[] = [];
  private readonly places: number[] = [];

  /** Index of the first entry at or after a place in the order. */
  private find(place: number): number {
    let [from, to] = [0, this.places.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.places[middle]! < place) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** It must not be there yet. */
  insert(entry: Entry): void {
    const { orderPos } = entry;
    const at = this.find(orderPos);
    this.entries.splice(at, 0, entry);
    this.places.splice(at, 0, orderPos);
  }

  remove(entry: Entry): void {
    const at = this.find(entry.orderPos);
    if (at === this.entries.length) return;
    // It may have had another place.
    const found = this.entries[at] === entry ? at : this.entries.indexOf(entry);
    if (found < 0) return;
    this.entries.splice(found, 1);
    this.places.splice(found, 1);
  }
}

const OPEN = new WeakMap<Wallet, ListedEntries>();

/** The lists of a wallet. */
export function listedEntriesOf(wallet: Wallet): ListedEntries {
  let lists = OPEN.get(wallet);
  if (lists === undefined) OPEN.set(wallet, (lists = new ListedEntries(wallet)));
  return lists;
}
