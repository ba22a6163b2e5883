/**
 * Read access to the transactions of a wallet: the list, their depths, and the spends. Changes are in `ledger.ts`. Source:
 * lbrycrd wallet/wallet.cpp.
 */
import type { Transaction } from '../../primitives/transaction.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { outputKey, type Entry, type OwnOutput } from './entry.js';
import { EntryIndex } from './entryIndex.js';
import type { LedgerPort } from './ledgerPort.js';
import type { OrderedEntries } from './orderedEntries.js';
import type { SettledCoin } from './spentOutputs.js';
import type { TxRecord } from './txRecord.js';
import { TxRows } from './txRows.js';

/** Called with each changed or removed entry; with null if any entry may have changed. */
export type EntryWatcher = (entry: Entry | null) => void;

export abstract class LedgerReader {
  protected readonly port: LedgerPort;
  protected readonly index = new EntryIndex();
  protected readonly spent = this.index.spent;
  protected readonly rows: TxRows;
  /** Incremented by every change. */
  protected changes = 0;
  private readonly watchers = new Set<EntryWatcher>();

  constructor(port: LedgerPort) {
    this.port = port;
    this.rows = new TxRows(port);
  }

  get size(): number {
    return this.index.size;
  }

  /** Height up to which the wallet has followed the chain. */
  get followedHeight(): number {
    return this.port.height;
  }

  /** Changes with all data on which balances and lists depend, except for the address book and the clock. */
  get revision(): string {
    return `${this.changes} ${this.port.height}`;
  }

  /** Subscribes until the wallet is closed. A watcher must not change entries. */
  watch(watcher: EntryWatcher): void {
    this.watchers.add(watcher);
  }

  protected touch(entry: Entry | null): void {
    for (const watcher of this.watchers) watcher(entry);
  }

  /** The same for an entry and its spenders, which depend on its outputs. */
  protected touchFamily(entry: Entry): void {
    if (this.watchers.size === 0) return;
    this.touch(entry);
    for (const child of this.childrenOf(entry)) this.touch(child);
  }

  find(txid: Bytes): Entry | undefined {
    return this.index.get(toLatin1(txid));
  }

  entry(key: string): Entry | undefined {
    return this.index.get(key);
  }

  /** All entries, in no order. Accessing all of them reads all rows; use a list of some entries if possible. */
  all(): Iterable<Entry> {
    return this.index.all();
  }

  /**
   * Before `loaded`: entries that may not be in a block of the active chain. `heightOf`: height of a block in it, −1 for
   * others.
   */
  abstract doubtful(heightOf: (hash: Bytes) => number): Iterable<Entry>;

  /** All entries, the earliest first. */
  inOrder(): OrderedEntries {
    return this.index.inOrder();
  }

  /** Entries outside the active chain. */
  unsettled(): IterableIterator<Entry> {
    return this.index.loose.values();
  }

  /** Entries in a block of the active chain. */
  *inBlock(blockHash: Bytes): Generator<Entry> {
    for (const entry of this.index.inBlock(blockHash)) if (entry.state === 'confirmed') yield entry;
  }

  /** Number of entries with this block, confirmed or in conflict with it. */
  countIn(blockHash: Bytes): number {
    return this.index.countInBlock(blockHash);
  }

  /** Entries with an own output to a destination (`destinationKey`), each once. */
  payingTo(destination: string): readonly Entry[] {
    return this.index.payingTo(destination);
  }

  /** Entries sent from a named deprecated account. */
  paidBy(account: string): readonly Entry[] {
    return this.index.byPayer.of(account);
  }

  /**
   * Entries with a claim or support in an output, the earliest first. Without `spent` only those with such an unspent
   * output, as far as the wallet knows.
   */
  withStakes(spent: boolean): readonly Entry[] {
    return this.index.stakes(spent);
  }

  /** Unspent outputs of the wallet with their keys; with `destinations` only outputs to these. */
  unspentOutputs(
    destinations: ReadonlySet<string> | null = null,
  ): IterableIterator<[key: string, output: OwnOutput]> {
    return destinations === null ? this.spent.unspent() : this.spent.unspentAt(destinations);
  }

  /**
   * All of `unspentOutputs` in two parts: outputs of settled transactions with only the data for balances, without creating
   * entries; and the others.
   */
  unspentParts(): {
    readonly settled: Iterable<SettledCoin>;
    readonly others: IterableIterator<[key: string, output: OwnOutput]>;
  } {
    return { settled: this.spent.unspentSettled(), others: this.spent.unspentAwake() };
  }

  /** Unspent outputs with a claim or support. */
  *unspentStakes(): Generator<[key: string, output: OwnOutput]> {
    for (const key of this.spent.unspentStakes()) yield [key, this.spent.output(key)!];
  }

  /** Unspent outputs of transactions outside the active chain. */
  *unspentUnsettled(): Generator<[key: string, output: OwnOutput]> {
    for (const entry of this.unsettled()) {
      for (const output of entry.outputs) {
        const key = outputKey(entry.key, output.n);
        if (!this.isSpent(key)) yield [key, output];
      }
    }
  }

  /** The whole record of an entry, including its transaction. */
  record(entry: Entry): TxRecord {
    return this.rows.record(entry);
  }

  transaction(entry: Entry): Transaction {
    return this.rows.transaction(entry);
  }

  /**
   * Confirmations: blocks from its own to the tip. 0 if it is not in a block. Negative for a conflict: the number of
   * confirmations of the conflicting block. Source: `GetDepthInMainChain`.
   */
  depth({ state, height }: Entry): number {
    if (state === 'confirmed') return this.port.height - height + 1;
    return state === 'conflicted' ? -(this.port.height - height + 1) : 0;
  }

  /** An output of the wallet in one of its transactions. */
  output(key: string): OwnOutput | undefined {
    return this.spent.output(key);
  }

  /** Whether a confirmed or unconfirmed transaction of the wallet spends an output. Source: `IsSpent`. */
  isSpent(output: string): boolean {
    return this.spent.isSpent(output);
  }

  /** Whether an output is the wallet's, or spent by one of its transactions. */
  concerns(output: string): boolean {
    return this.spent.concerns(output);
  }

  /**
   * Whether a transaction, by its id in wire order at `start`, may be in the wallet, or be spent by one that is. False is
   * certain.
   */
  mayKnow(bytes: Uint8Array, start: number): boolean {
    return this.index.ids.mayHave(bytes, start);
  }

  /** The words of the `PrefixFilter` behind `mayKnow`. They change when a transaction is added. */
  get idWords(): Uint32Array {
    return this.index.ids.words;
  }

  has(txKey: string): boolean {
    return this.index.has(txKey);
  }

  /** The wallet's transactions that spend an output. */
  spendersOf(output: string): Entry[] {
    return this.spent.spendersOf(output);
  }

  /** Other transactions of the wallet that spend an input of this one. Source: `GetConflicts`. */
  conflictsOf(entry: Entry): Entry[] {
    const found = new Set<Entry>();
    for (const input of entry.inputs) {
      const spenders = this.spendersOf(input);
      if (spenders.length > 1) for (const other of spenders) if (other !== entry) found.add(other);
    }
    return [...found];
  }

  /** The wallet's transactions that spend outputs of this one. */
  childrenOf(entry: Entry): Entry[] {
    return this.spent.childrenOf(entry);
  }

  /** Sum of the inputs that are the wallet's, by `MINE` flags. Source: `GetDebit`. */
  debit(entry: Entry, filter: number): bigint {
    let sum = 0n;
    for (const input of entry.inputs) {
      const spent = this.output(input);
      if (spent !== undefined && (spent.mine & filter) !== 0) sum += spent.valueSat;
    }
    return sum;
  }
}
