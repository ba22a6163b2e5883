/**
 * The wallet's transactions with indexes by id, block, destination and order of arrival, and of unconfirmed ones and those
 * with claims. If the wallet was opened from its image file, most transactions stay in typed arrays (columns,
 * `sleepingTxs.ts`); the others are in memory as objects. A transaction is loaded into memory before it changes (`wake`).
 * `ledger.ts` contains the rules for the states of transactions.
 */
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { PrefixFilter } from '../../util/prefixFilter.js';
import { inSteps, type Slices } from '../../util/slices.js';
import { BlockEntries } from './blockEntries.js';
import { MINE_STAKE } from '../keys/isMine.js';
import { txKeyOf, type Entry, type OwnOutput } from './entry.js';
import { EntryLists } from './entryLists.js';
import { OrderedEntries } from './orderedEntries.js';
import { HAS_FOREIGN_STAKE } from './packedTxs.js';
import type { SettledPayments } from '../port.js';
import type { SleepingTxs } from './sleepingTxs.js';
import { SpentOutputs } from './spentOutputs.js';

export class EntryIndex {
  /** Transactions that are in memory as objects, by id. */
  private readonly held = new Map<string, Entry>();
  private sleeping: SleepingTxs | null = null;
  /** Filter with the ids of all entries, and of the transactions whose outputs they spend. */
  readonly ids = new PrefixFilter(() => this.allIds());
  readonly spent = new SpentOutputs(this.held, this.ids);
  private readonly blocks = new BlockEntries();
  private readonly destinations = new EntryLists();
  /**
   * Transactions in memory by the deprecated account that paid. Transactions of the unnamed account are left out, because
   * nearly all transactions belong to it.
   */
  private readonly byPayer = new EntryLists();
  /** Rows of the packed transactions by the deprecated account that paid. */
  private payerRows: ReadonlyMap<string, readonly number[]> = new Map();
  /** Transactions that are not in a block of the active chain. */
  readonly loose = new Set<Entry>();
  /** Transactions in memory that contain a claim or support of the wallet, spent or not. */
  private readonly ownStakes = new Set<Entry>();
  /** Transactions that contain a claim or support that the wallet cannot spend. */
  private readonly foreignStakes = new Set<Entry>();
  private readonly order = new OrderedEntries(this.held);

  get size(): number {
    return this.held.size + (this.sleeping?.size ?? 0);
  }

  get(key: string): Entry | undefined {
    return this.held.get(key) ?? this.sleeping?.get(key);
  }

  has(key: string): boolean {
    return this.held.has(key) || (this.sleeping !== null && this.sleeping.find(key) >= 0);
  }

  /** Iterates over all transactions, in no particular order. */
  *all(): Generator<Entry> {
    if (this.sleeping !== null) yield* this.sleeping.all();
    yield* this.held.values();
  }

  /** Transactions in memory. All transactions that may change are among them. */
  awake(): IterableIterator<Entry> {
    return this.held.values();
  }

  private *allIds(): Generator<string> {
    yield* this.held.keys();
    if (this.sleeping !== null) yield* this.sleeping.keys();
    yield* this.spent.spentKeys();
  }

  /**
   * Initializes the index with the transactions in columns, and with their rows by the deprecated account that paid. Must be
   * called before other entries are added.
   */
  begin(sleeping: SleepingTxs, payerRows: ReadonlyMap<string, readonly number[]>): void {
    this.sleeping = sleeping;
    this.payerRows = payerRows;
    this.spent.begin(sleeping);
    this.order.begin(sleeping);
  }

  /** Transactions in columns that a scan of their blocks may skip; null if there are none. */
  get settledPayments(): SettledPayments | null {
    return this.sleeping?.payments ?? null;
  }

  /** Whether all transactions are still in columns and unchanged since the start. */
  get isAsItBegan(): boolean {
    return this.sleeping !== null && this.sleeping.size === this.sleeping.txs.count;
  }

  /**
   * Whether the transactions in columns are still in the blocks of the active chain in which they were when the image was
   * written.
   */
  standsIn(heightOf: (hash: Bytes) => number): boolean {
    return this.sleeping === null || this.sleeping.standsIn(heightOf);
  }

  /** Loads a transaction into memory, so that it can change. */
  wake(entry: Entry): void {
    const row = this.sleeping?.rowOf(entry) ?? -1;
    if (row < 0) return;
    this.spent.wake(row);
    this.enter(this.sleeping!.leave(row));
    this.spent.addSpender(entry);
  }

  /** Loads all transactions into memory, in slices. */
  *wakeAll(): Slices<void> {
    if (this.sleeping === null) return;
    for (const entry of inSteps(this.sleeping.all())) {
      if (entry === null) yield;
      else this.wake(entry);
    }
  }

  /** All transactions, sorted by arrival from the earliest. */
  inOrder(): OrderedEntries {
    return this.order.ready();
  }

  /** Discards the cached order of the transactions, so that it is computed again when it is needed. */
  reorder(): void {
    this.order.forget();
  }

  /** Computes the order of all transactions in slices. */
  sort(): Slices<void> {
    return this.order.sort();
  }

  /** Transactions whose rows contain this block. The block either contains the transaction or conflicts with it. */
  inBlock(hash: Bytes): Entry[] {
    const held = this.blocks.of(hash);
    const asleep = this.sleeping?.txs.inBlock(toLatin1(hash));
    return asleep === undefined ? [...held] : [...this.sleeping!.entries(asleep), ...held];
  }

  countInBlock(hash: Bytes): number {
    const asleep = this.sleeping?.txs.inBlock(toLatin1(hash)) ?? [];
    let count = this.blocks.of(hash).length;
    for (const row of asleep) if (this.sleeping!.has(row)) count++;
    return count;
  }

  /** Returns the object for a block hash; one object exists per hash, for all transactions (`BlockEntries.hash`). */
  blockHash(key: string): Bytes {
    return this.blocks.hash(key);
  }

  /** Transactions that were sent from a named deprecated account. */
  paidBy(account: string): readonly Entry[] {
    const held = this.byPayer.of(account);
    const rows = this.payerRows.get(account);
    return rows === undefined ? held : [...this.sleeping!.entries(rows), ...held];
  }

  /** Names of the deprecated accounts from which transactions may have been sent, without the unnamed account. */
  payers(): Set<string> {
    return new Set([...this.payerRows.keys(), ...this.byPayer.keys()]);
  }

  /** Transactions with an own output that pays to a destination. */
  payingTo(destination: string): readonly Entry[] {
    const held = this.destinations.of(destination);
    if (this.sleeping === null) return held;
    const asleep = this.sleeping.entries(this.sleeping.txs.payingTo(destination));
    return asleep.length === 0 ? held : [...asleep, ...held];
  }

  /**
   * Returns the string object for a `destinationKey` that transactions store, so that equal strings are stored once.
   * Undefined if no transaction pays to the destination.
   */
  keptDestination(key: string): string {
    return this.destinations.first(key)?.outputs.find(({ to }) => to === key)?.to ?? key;
  }

  add(entry: Entry): void {
    this.ids.add(entry.key);
    this.enter(entry);
    this.order.add(entry);
    this.spent.addSpender(entry);
  }

  private enter(entry: Entry): void {
    this.held.set(entry.key, entry);
    this.blocks.add(entry);
    if (entry.row.fromAccount !== '') this.byPayer.add(entry.row.fromAccount, entry);
    this.noteOutputs(entry);
    if (entry.hasForeignStake) this.foreignStakes.add(entry);
  }

  remove(entry: Entry): void {
    this.wake(entry);
    this.blocks.remove(entry);
    if (entry.row.fromAccount !== '') this.byPayer.remove(entry.row.fromAccount, entry);
    this.dropOutputs(entry);
    this.foreignStakes.delete(entry);
    this.held.delete(entry.key);
    this.loose.delete(entry);
    this.order.forget();
    this.spent.remove(entry);
  }

  /** Removes a transaction whose row was deleted or changed. */
  unload(key: string): void {
    const held = this.held.get(key);
    if (held !== undefined) return this.remove(held);
    const row = this.sleeping?.find(key) ?? -1;
    if (row < 0) return;
    this.sleeping!.drop(row);
    this.spent.drop(row);
    this.order.forget();
  }

  /** Replaces the row data of a transaction. */
  setRow(entry: Entry, row: Entry['row']): void {
    this.wake(entry);
    this.blocks.remove(entry);
    const [known, payer] = [entry.row.fromAccount, row.fromAccount];
    entry.row = row;
    this.blocks.add(entry);
    if (known === payer) return;
    if (known !== '') this.byPayer.remove(known, entry);
    if (payer !== '') this.byPayer.add(payer, entry);
  }

  /** Replaces the wallet's outputs of a transaction. */
  setOutputs(entry: Entry, outputs: readonly OwnOutput[], hasForeignStake: boolean): void {
    this.wake(entry);
    this.dropOutputs(entry);
    entry.outputs = outputs;
    entry.hasForeignStake = hasForeignStake;
    this.noteOutputs(entry);
    if (hasForeignStake) this.foreignStakes.add(entry);
    else this.foreignStakes.delete(entry);
  }

  private noteOutputs(entry: Entry): void {
    for (const { to, mine } of entry.outputs) {
      if (to !== '') this.destinations.add(to, entry);
      if ((mine & MINE_STAKE) !== 0) this.ownStakes.add(entry);
    }
  }

  private dropOutputs(entry: Entry): void {
    for (const { to } of entry.outputs) if (to !== '') this.destinations.remove(to, entry);
    this.ownStakes.delete(entry);
  }

  /**
   * Transactions with a claim or support, in order of arrival. If `spent` is false, only transactions with an unspent claim
   * or support.
   */
  stakes(spent: boolean): Entry[] {
    const own = spent
      ? this.allOwnStakes()
      : [...this.spent.unspentStakes()].map((key) => this.get(txKeyOf(key))!);
    return [...new Set([...own, ...this.allForeignStakes()])].sort((a, b) => a.orderPos - b.orderPos);
  }

  private allOwnStakes(): Entry[] {
    if (this.sleeping === null) return [...this.ownStakes];
    const { stakes, ownRows } = this.sleeping.txs.columns;
    return [...this.sleeping.entries(Array.from(stakes, (own) => ownRows[own]!)), ...this.ownStakes];
  }

  private allForeignStakes(): Entry[] {
    if (this.sleeping === null) return [...this.foreignStakes];
    const { flags } = this.sleeping.txs.columns;
    const rows: number[] = [];
    for (let row = 0; row < flags.length; row++) if ((flags[row]! & HAS_FOREIGN_STAKE) !== 0) rows.push(row);
    return [...this.sleeping.entries(rows), ...this.foreignStakes];
  }
}
