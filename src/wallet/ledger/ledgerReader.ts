/**
 * Read access to the transactions of a wallet: lists, confirmations, and spent outputs. `ledger.ts` contains the changes.
 * Source: lbrycrd wallet/wallet.cpp.
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

/** Called with each changed or removed transaction. Null stands for all transactions. */
export type EntryWatcher = (entry: Entry | null) => void;

export abstract class LedgerReader {
  protected readonly port: LedgerPort;
  protected readonly index = new EntryIndex();
  protected readonly spent = this.index.spent;
  protected readonly rows: TxRows;
  /** Number of changes of the ledger so far. */
  protected changes = 0;
  private readonly watchers = new Set<EntryWatcher>();

  constructor(port: LedgerPort) {
    this.port = port;
    this.rows = new TxRows(port);
  }

  get size(): number {
    return this.index.size;
  }

  /** Height of the last block that the wallet has applied. */
  get followedHeight(): number {
    return this.port.height;
  }

  /** Text that changes with all data on which balances and lists depend, except for the address book and the clock. */
  get revision(): string {
    return `${this.changes} ${this.port.height}`;
  }

  /** Adds a watcher, which stays subscribed until the wallet is closed. A watcher must not change transactions. */
  watch(watcher: EntryWatcher): void {
    this.watchers.add(watcher);
  }

  protected touch(entry: Entry | null): void {
    for (const watcher of this.watchers) watcher(entry);
  }

  /** Notifies watchers about a transaction, and about the transactions that spend its outputs, because they depend on it. */
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

  /**
   * All transactions in undefined order. Accessing all of them may read all rows from disk, so prefer a list of fewer
   * transactions.
   */
  all(): Iterable<Entry> {
    return this.index.all();
  }

  /**
   * Transactions that may not be in a block of the active chain. May be called before `loaded`. `heightOf` returns the
   * height of a block of the active chain, −1 for other blocks.
   */
  abstract doubtful(heightOf: (hash: Bytes) => number): Iterable<Entry>;

  /** All transactions, sorted by arrival from the earliest. */
  inOrder(): OrderedEntries {
    return this.index.inOrder();
  }

  /** Transactions that are not in a block of the active chain. */
  unsettled(): IterableIterator<Entry> {
    return this.index.loose.values();
  }

  /** Iterates over the transactions that are confirmed in the block. */
  *inBlock(blockHash: Bytes): Generator<Entry> {
    for (const entry of this.index.inBlock(blockHash)) if (entry.state === 'confirmed') yield entry;
  }

  /** Number of transactions whose rows contain this block: confirmed in it, or in conflict with it. */
  countIn(blockHash: Bytes): number {
    return this.index.countInBlock(blockHash);
  }

  /** Transactions with an own output that pays to a destination (`destinationKey`), without duplicates. */
  payingTo(destination: string): readonly Entry[] {
    return this.index.payingTo(destination);
  }

  /** Transactions that were sent from a named deprecated account. */
  paidBy(account: string): readonly Entry[] {
    return this.index.paidBy(account);
  }

  /**
   * Entries with a claim or support in an output, the earliest first. Without `spent` only transactions whose claim or
   * support is unspent, as far as the wallet knows.
   */
  withStakes(spent: boolean): readonly Entry[] {
    return this.index.stakes(spent);
  }

  /** Unspent outputs of the wallet with their keys. With `destinations` only outputs that pay to these destinations. */
  unspentOutputs(
    destinations: ReadonlySet<string> | null = null,
  ): IterableIterator<[key: string, output: OwnOutput]> {
    return destinations === null ? this.spent.unspent() : this.spent.unspentAt(destinations);
  }

  /**
   * All unspent outputs in two parts. `settled`: outputs of settled transactions with only the data for balances, without
   * creating entries. `others`: all other outputs.
   */
  unspentParts(): {
    readonly settled: Iterable<SettledCoin>;
    readonly others: IterableIterator<[key: string, output: OwnOutput]>;
  } {
    return { settled: this.spent.unspentSettled(), others: this.spent.unspentAwake() };
  }

  /** Iterates over the unspent outputs that are claims or supports. */
  *unspentStakes(): Generator<[key: string, output: OwnOutput]> {
    for (const key of this.spent.unspentStakes()) yield [key, this.spent.output(key)!];
  }

  /** Iterates over the unspent outputs of transactions that are not in a block of the active chain. */
  *unspentUnsettled(): Generator<[key: string, output: OwnOutput]> {
    for (const entry of this.unsettled()) {
      for (const output of entry.outputs) {
        const key = outputKey(entry.key, output.n);
        if (!this.isSpent(key)) yield [key, output];
      }
    }
  }

  /** Returns the whole record of a transaction, including the transaction itself. Reads it from disk. */
  record(entry: Entry): TxRecord {
    return this.rows.record(entry);
  }

  transaction(entry: Entry): Transaction {
    return this.rows.transaction(entry);
  }

  /**
   * Number of confirmations: the blocks from the transaction's block to the tip. 0 if the transaction is not in a block. For
   * a conflict, the negative number of confirmations of the conflicting block. Source: `GetDepthInMainChain`.
   */
  depth({ state, height }: Entry): number {
    if (state === 'confirmed') return this.port.height - height + 1;
    return state === 'conflicted' ? -(this.port.height - height + 1) : 0;
  }

  /** Returns the wallet's own output with this output key; undefined for outputs of others. */
  output(key: string): OwnOutput | undefined {
    return this.spent.output(key);
  }

  /** Whether a confirmed or unconfirmed transaction of the wallet spends an output. Source: `IsSpent`. */
  isSpent(output: string): boolean {
    return this.spent.isSpent(output);
  }

  /** Whether an output belongs to the wallet, or is spent by one of the wallet's transactions. */
  concerns(output: string): boolean {
    return this.spent.concerns(output);
  }

  /**
   * Fast check of a txid at offset `start` (wire order). Returns false only if the transaction is certainly not in the
   * wallet, and no transaction of the wallet spends its outputs.
   */
  mayKnow(bytes: Uint8Array, start: number): boolean {
    return this.index.ids.mayHave(bytes, start);
  }

  /** Words of the `PrefixFilter` behind `mayKnow`. They change when a transaction is added. */
  get idWords(): Uint32Array {
    return this.index.ids.words;
  }

  has(txKey: string): boolean {
    return this.index.has(txKey);
  }

  /** The wallet's transactions that spend this output. */
  spendersOf(output: string): Entry[] {
    return this.spent.spendersOf(output);
  }

  /** Transactions of the wallet that spend an output which `entry` spends, without `entry` itself. Source: `GetConflicts`. */
  conflictsOf(entry: Entry): Entry[] {
    const found = new Set<Entry>();
    for (const input of entry.inputs) {
      const spenders = this.spendersOf(input);
      if (spenders.length > 1) for (const other of spenders) if (other !== entry) found.add(other);
    }
    return [...found];
  }

  /** The wallet's transactions that spend outputs of this transaction. */
  childrenOf(entry: Entry): Entry[] {
    return this.spent.childrenOf(entry);
  }

  /**
   * Sum in satoshis of the inputs that belong to the wallet. Only inputs with a flag of `filter` (`MINE`) count. Source:
   * `GetDebit`.
   */
  debit(entry: Entry, filter: number): bigint {
    let sum = 0n;
    for (const input of entry.inputs) {
      const spent = this.output(input);
      if (spent !== undefined && (spent.mine & filter) !== 0) sum += spent.valueSat;
    }
    return sum;
  }
}
