/**
 * What a wallet knows of its transactions, for reading: which there are, how deep they lie, what spends what. How it changes is
 * `ledger.ts`'s. Source: lbrycrd wallet/wallet.cpp.
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

/** Notified of each changed or removed entry; of null when any may have changed. */
export type EntryWatcher = (entry: Entry | null) => void;

export abstract class LedgerReader {
  protected readonly port: LedgerPort;
  protected readonly index = new EntryIndex();
  protected readonly spent = this.index.spent;
  protected readonly rows: TxRows;
  /** Goes up with every change. */
  protected changes = 0;
  private readonly watchers = new Set<EntryWatcher>();

  constructor(port: LedgerPort) {
    this.port = port;
    this.rows = new TxRows(port);
  }

  get size(): number {
    return this.index.size;
  }

  /** Height of the tip that the wallet has followed the chain to. */
  get followedHeight(): number {
    return this.port.height;
  }

  /** Changes with everything that balances and lists depend on, except for the address book and the clock. */
  get revision(): string {
    return `${this.changes} ${this.port.height}`;
  }

  /** For as long as the wallet is open. What is notified of an entry must not change any. */
  watch(watcher: EntryWatcher): void {
    this.watchers.add(watcher);
  }

  protected touch(entry: Entry | null): void {
    for (const watcher of this.watchers) watcher(entry);
  }

  /** The same for what depends on its outputs too: those that spend them. */
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

  /** All, in no order. A caller that looks at each entry reads each: a list of some is better where there is one. */
  all(): Iterable<Entry> {
    return this.index.all();
  }

  /**
   * Before `loaded`: those that may be in no block of the active chain. `heightOf`: height of a block there, −1 for others.
   */
  abstract doubtful(heightOf: (hash: Bytes) => number): Iterable<Entry>;

  /** All, the first that came first. */
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

  /** How many name a block, as what holds them or what they conflict with. */
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
   * Those with an output that holds a claim or support, the first that came first. Without `spent` only where such an output is
   * not spent, as far as the wallet knows.
   */
  withStakes(spent: boolean): readonly Entry[] {
    return this.index.stakes(spent);
  }

  /** Output keys of what is the wallet's and not spent, with the output; with destinations only what pays to one of these. */
  unspentOutputs(
    destinations: ReadonlySet<string> | null = null,
  ): IterableIterator<[key: string, output: OwnOutput]> {
    return destinations === null ? this.spent.unspent() : this.spent.unspentAt(destinations);
  }

  /**
   * All of `unspentOutputs` in two parts: those of settled transactions as what balances ask of them, without an entry of each, and
   * the others.
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

  /** The whole record of an entry, its transaction included. */
  record(entry: Entry): TxRecord {
    return this.rows.record(entry);
  }

  transaction(entry: Entry): Transaction {
    return this.rows.transaction(entry);
  }

  /**
   * Confirmations: blocks up to the tip, its own counted; 0 for what is in none; below 0 the same of a block that it
   * conflicts with. Source: `GetDepthInMainChain`.
   */
  depth({ state, height }: Entry): number {
    if (state === 'confirmed') return this.port.height - height + 1;
    return state === 'conflicted' ? -(this.port.height - height + 1) : 0;
  }

  /** An output of one of the wallet's transactions that is the wallet's too. */
  output(key: string): OwnOutput | undefined {
    return this.spent.output(key);
  }

  /** Whether a transaction of the wallet spends an output: in a block, or on its way. Source: `IsSpent`. */
  isSpent(output: string): boolean {
    return this.spent.isSpent(output);
  }

  /** Whether an output is the wallet's, or one that it spends too. */
  concerns(output: string): boolean {
    return this.spent.concerns(output);
  }

  /**
   * Whether a transaction, by its id in wire order at `start`, may be the wallet's, or one that the wallet's transactions spend
   * of. False is certain.
   */
  mayKnow(bytes: Uint8Array, start: number): boolean {
    return this.index.ids.mayHave(bytes, start);
  }

  /** The ids behind `mayKnow`: words of a `PrefixFilter`, others once a transaction came. */
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

  /** The wallet's other transactions that spend what this one spends. Source: `GetConflicts`. */
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

  /** What the inputs take from the wallet, by `MINE` flags. Source: `GetDebit`. */
  debit(entry: Entry, filter: number): bigint {
    let sum = 0n;
    for (const input of entry.inputs) {
      const spent = this.output(input);
      if (spent !== undefined && (spent.mine & filter) !== 0) sum += spent.valueSat;
    }
    return sum;
  }
}
