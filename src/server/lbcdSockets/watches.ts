/**
 * Watched items of one client: addresses (`notifyreceived`), outputs (`notifyspent`), and its transaction filter
 * (`loadtxfilter`). Stores the sets. Their total size over all clients is limited. Source: lbcd rpcwebsocket.go
 * `wsNotificationManager`, `wsClientFilter`.
 */
import { outPointKey, type WatchedTransaction } from './watchedTransaction.js';
import { publicKeyHashKey, publicKeyKey, type Payees } from './watchKeys.js';

/** Number of watched items of all clients together, and the limit of this number. */
export class WatchCount {
  readonly max: number;
  now = 0;

  constructor(max: number) {
    this.max = max;
  }
}

/** Thrown if the limit of watched items is exceeded. */
export class WatchLimitError extends Error {
  override readonly name = 'WatchLimitError';
}

/** A set whose members count towards the limit of watched items. */
class CountedSet {
  private readonly keys = new Set<string>();
  private readonly count: WatchCount;

  constructor(count: WatchCount) {
    this.count = count;
  }

  get isEmpty(): boolean {
    return this.keys.size === 0;
  }

  has(key: string): boolean {
    return this.keys.has(key);
  }

  /** Throws `WatchLimitError`. */
  add(key: string): void {
    if (this.keys.has(key)) return;
    if (this.count.now >= this.count.max)
      throw new WatchLimitError(
        `More than ${this.count.max} addresses and outputs are watched by all clients together`,
      );
    this.count.now++;
    this.keys.add(key);
  }

  delete(key: string): void {
    if (this.keys.delete(key)) this.count.now--;
  }

  clear(): void {
    this.count.now -= this.keys.size;
    this.keys.clear();
  }
}

/** The transaction filter of a client (`loadtxfilter`). */
class TxFilter {
  readonly addresses: CountedSet;
  readonly unspent: CountedSet;

  constructor(count: WatchCount) {
    this.addresses = new CountedSet(count);
    this.unspent = new CountedSet(count);
  }

  pays({ hashes, publicKeys }: Payees): boolean {
    const { addresses } = this;
    return (
      hashes.some((key) => addresses.has(key)) ||
      publicKeys.some((key) => addresses.has(publicKeyKey(key)) || addresses.has(publicKeyHashKey(key)))
    );
  }
}

/** Result of matching a transaction with the watched items of a client. */
export interface Relevance {
  /** Whether the transaction spends a watched output. */
  readonly redeems: boolean;
  /** Whether the transaction pays to a watched address. */
  readonly receives: boolean;
  /** Outputs of the transaction that must be watched after this match, in the format of `outPointKey`. */
  readonly outputs: readonly string[];
}

export class Watches {
  private readonly received: CountedSet;
  private readonly spent: CountedSet;
  private readonly count: WatchCount;
  private filter: TxFilter | null = null;

  constructor(count: WatchCount) {
    this.count = count;
    this.received = new CountedSet(count);
    this.spent = new CountedSet(count);
  }

  get hasFilter(): boolean {
    return this.filter !== null;
  }

  /** Whether the client watches no items. If so, transactions of blocks need not be matched. */
  get isEmpty(): boolean {
    return this.received.isEmpty && this.spent.isEmpty;
  }

  addAddresses(keys: Iterable<string>): void {
    for (const key of keys) this.received.add(key);
  }

  removeAddresses(keys: Iterable<string>): void {
    for (const key of keys) this.received.delete(key);
  }

  addOutputs(keys: Iterable<string>): void {
    for (const key of keys) this.spent.add(key);
  }

  removeOutputs(keys: Iterable<string>): void {
    for (const key of keys) this.spent.delete(key);
  }

  /**
   * Matches a transaction against the watched addresses and outputs. If the transaction is confirmed, the outputs that it
   * spends are removed from the watched outputs.
   */
  look(transaction: WatchedTransaction, isInBlock: boolean): Relevance {
    let redeems = false;
    if (!this.spent.isEmpty) {
      for (const key of transaction.spent) {
        if (!this.spent.has(key)) continue;
        redeems = true;
        if (isInBlock) this.spent.delete(key);
      }
    }
    const outputs: string[] = [];
    if (!this.received.isEmpty) {
      transaction.payees.forEach(({ hashes, publicKeys }, n) => {
        const isWatched =
          hashes.some((key) => this.received.has(key)) ||
          publicKeys.some((key) => this.received.has(publicKeyHashKey(key)));
        if (isWatched) outputs.push(outPointKey(transaction.txid, n));
      });
      this.addOutputs(outputs);
    }
    return { redeems, receives: outputs.length > 0, outputs };
  }

  /** Extends or replaces the client's transaction filter. Source: `handleLoadTxFilter`. */
  loadFilter(reload: boolean, addresses: Iterable<string>, outputs: Iterable<string>): void {
    if (reload || this.filter === null) {
      this.dropFilter();
      this.filter = new TxFilter(this.count);
    }
    for (const key of addresses) this.filter.addresses.add(key);
    for (const key of outputs) this.filter.unspent.add(key);
  }

  /** Whether a transaction matches the filter. If so, its outputs to watched addresses are added to the filter. */
  filters(transaction: WatchedTransaction): boolean {
    const { filter } = this;
    if (filter === null) return false;
    let fits = transaction.spent.some((key) => filter.unspent.has(key));
    transaction.payees.forEach((payees, n) => {
      if (!filter.pays(payees)) return;
      fits = true;
      filter.unspent.add(outPointKey(transaction.txid, n));
    });
    return fits;
  }

  clear(): void {
    this.received.clear();
    this.spent.clear();
    this.dropFilter();
  }

  private dropFilter(): void {
    this.filter?.addresses.clear();
    this.filter?.unspent.clear();
    this.filter = null;
  }
}
