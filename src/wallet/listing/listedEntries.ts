/**
 * Caches the transactions of recently requested lists, and updates them incrementally. Each list is identified by its label
 * or account and by `MINE` flags. The first request of a list checks all candidate transactions. Later requests check only
 * changed transactions. Memory: a reference and a number for each transaction of each list.
 */
import { sortedInSlices, type Slices } from '../../util/slices.js';
import type { Entry } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';
import { listedCounts } from './amounts.js';
import { listsReceived, listsSent, type ListSelection } from './selection.js';

/** Maximum number of cached lists. Arbitrary. */
const MAX_LISTS = 8;
/** Maximum number of transactions that may change between two queries. After more changes the list is rebuilt. Arbitrary. */
const MAX_TOUCHED = 16_384;
/** Number of transactions that are processed between two yields to the event loop. */
const STEP = 256;

type What = Pick<ListSelection, 'filter' | 'label' | 'withAccounts'>;

interface Kept {
  readonly name: string;
  readonly list: PositionedEntries;
  /** Transactions that have changed since they were last checked for the list. */
  readonly touched: Set<Entry>;
  /** Whether so many transactions have changed that the list must be rebuilt. */
  isStale: boolean;
}

class ListedEntries {
  private readonly wallet: Wallet;
  /** Complete lists, sorted from the least recently used. */
  private readonly lists = new Map<string, Kept>();
  /** Lists in use, complete or not, with the number of running calls that use each. */
  private readonly inUse = new Map<Kept, number>();

  constructor(wallet: Wallet) {
    this.wallet = wallet;
    const { ledger, book } = wallet;
    ledger.watch((entry) => this.touch(entry === null ? null : [entry]));
    book.watch((destination) => this.touch(ledger.payingTo(destination)));
  }

  /** Marks transactions as changed in all lists; null marks all transactions. */
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
   * All transactions that may have items in a list, the earliest first. The array is valid until other code runs. The caller
   * must not change it.
   */
  *of(what: What): Slices<readonly Entry[]> {
    const { filter, label, withAccounts } = what;
    const name = `${filter} ${withAccounts} ${label === null ? '*' : `=${label}`}`;
    for (;;) {
      const known = this.lists.get(name);
      const kept = known ?? { name, list: new PositionedEntries(), touched: new Set(), isStale: false };
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

  /** Caches a list. If the same list was built several times concurrently, the last one is cached. */
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

  /**
   * Transactions that pay to addresses with the label, in order of arrival. With accounts, also transactions that were sent
   * from the account with this name.
   */
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
    // Transactions that are added to the set during a yield are processed by this loop, too.
    for (const entry of touched) {
      touched.delete(entry);
      list.remove(entry);
      if (this.isListed(what, entry)) list.insert(entry);
      if (++count % STEP === 0) yield;
    }
  }

  /** Whether a transaction may have items in the list, whatever its number of confirmations. */
  private isListed(what: What, entry: Entry): boolean {
    const { wallet } = this;
    if (wallet.ledger.entry(entry.key) !== entry) return false;
    const { sent, received } = listedCounts(wallet, entry, what.filter);
    return (sent > 0 && listsSent(what, entry)) || received.some(({ to }) => listsReceived(wallet, what, to));
  }
}

/** Transactions sorted by position. Each one has the position that it had when it was inserted. */
class PositionedEntries {
  /** Transactions, the earliest first. */
  readonly entries: Entry[] = [];
  private readonly places: number[] = [];

  /** Index of the first transaction whose position is at or after `place`. */
  private find(place: number): number {
    let [from, to] = [0, this.places.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.places[middle]! < place) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** Inserts a transaction, which must not be in the list yet. */
  insert(entry: Entry): void {
    const { orderPos } = entry;
    const at = this.find(orderPos);
    this.entries.splice(at, 0, entry);
    this.places.splice(at, 0, orderPos);
  }

  remove(entry: Entry): void {
    const at = this.find(entry.orderPos);
    if (at === this.entries.length) return;
    // The position of the transaction may have changed after its insertion, so that a search by position may fail.
    const found = this.entries[at] === entry ? at : this.entries.indexOf(entry);
    if (found < 0) return;
    this.entries.splice(found, 1);
    this.places.splice(found, 1);
  }
}

const OPEN = new WeakMap<Wallet, ListedEntries>();

/** Returns the cached lists of an open wallet. */
export function listedEntriesOf(wallet: Wallet): ListedEntries {
  let lists = OPEN.get(wallet);
  if (lists === undefined) OPEN.set(wallet, (lists = new ListedEntries(wallet)));
  return lists;
}
