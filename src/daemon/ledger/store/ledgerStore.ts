/** The ledger's database on one connection: all reads and writes. Each call is atomic. */
import type { SqliteProvider } from '../../../sqlite/sqliteProvider.js';
import { ledgerParams, type LedgerId } from '../../base/ledgerParams.js';
import type {
  AddressFilter,
  AddressOrder,
  LedgerCoinAmount,
  LedgerCoinFilter,
  TransactionFilter,
} from '../ledgerDatabase.js';
import type { OutPointRef, QueryPage, PlotRange, TxoFilter, TxoPage, TxoView } from '../txoQuery.js';
import { AddressUses, type SentTransaction } from './addressUses.js';
import { CoinReads } from './coinReads.js';
import { longChains } from './longChains.js';
import { Filing, type FiledTransaction } from './filing.js';
import { Histories, type AddressStatus, type HistoryUpdate, type NewKey } from './histories.js';
import { Owners } from './owners.js';
import { isCorruption, openStoreFile } from './schema.js';
import { Statements } from '../../../sqlite/statements.js';
import { TransactionReads } from './transactionReads.js';
import { NotReserved, TxoReads } from './txoReads.js';

export interface StoreOptions {
  readonly path: string;
  readonly ledgerId: LedgerId;
}

/** Maximum number of cached query results. Arbitrary. */
const MAX_ANSWERS = 256;

export class LedgerStore {
  /** Message for the operator about a rebuilt database file; null if there is none. */
  readonly notice: string | null;
  readonly #answers = new Map<string, unknown>();
  readonly #statements: Statements;
  readonly #owners: Owners;
  readonly #uses: AddressUses;
  readonly #histories: Histories;
  readonly #txos: TxoReads;
  readonly #coins: CoinReads;
  readonly #transactions: TransactionReads;

  constructor(provider: SqliteProvider, { path, ledgerId }: StoreOptions) {
    const ledger = ledgerParams(ledgerId);
    const chain = `${ledgerId} ${ledger.network.genesisHash.toString('hex')}`;
    const { database, notice } = openStoreFile(provider, path, chain);
    this.notice = notice;
    this.#statements = new Statements(database);
    this.#owners = new Owners(this.#statements);
    const filing = new Filing(this.#statements, this.#owners, ledger);
    this.#uses = new AddressUses(this.#statements, filing);
    this.#histories = new Histories(this.#statements, this.#owners, filing, this.#uses);
    this.#txos = new TxoReads(this.#statements, this.#owners);
    this.#coins = new CoinReads(this.#statements, this.#owners);
    this.#transactions = new TransactionReads(this.#statements, this.#owners, this.#txos);
    this.#txos.markLeftReservations();
  }

  /** Returns the cached result of a query, or runs the query and caches its result until the next write. */
  #remembered<T>(name: string, args: readonly unknown[], answer: () => T): T {
    const key = `${name} ${JSON.stringify(args)}`;
    if (this.#answers.has(key)) return this.#answers.get(key) as T;
    const result = answer();
    if (this.#answers.size >= MAX_ANSWERS) this.#answers.clear();
    this.#answers.set(key, result);
    return result;
  }

  /**
   * Runs a write as one database transaction. If it is rolled back, the cached account numbers and histories may be wrong,
   * so they are deleted.
   */
  #write<T>(task: () => T): T {
    this.#answers.clear();
    try {
      return this.#statements.transaction(task);
    } catch (error) {
      this.#histories.forget();
      if (!isCorruption(error)) this.#owners.load();
      throw error;
    }
  }

  txos(filter: TxoFilter, page?: TxoPage, view?: TxoView) {
    return this.#txos.txos(filter, page, view);
  }

  txoCount(filter: TxoFilter) {
    return this.#remembered('txoCount', [filter], () => this.#txos.txoCount(filter));
  }

  txoSum(filter: TxoFilter) {
    return this.#remembered('txoSum', [filter], () => this.#txos.txoSum(filter));
  }

  txoPlot(filter: TxoFilter, range: PlotRange) {
    return this.#txos.txoPlot(filter, range);
  }

  balance(accountIds: readonly string[], maxHeight?: number) {
    return this.#remembered('balance', [accountIds, maxHeight], () =>
      this.#txos.balance(accountIds, maxHeight),
    );
  }

  coins(accountIds: readonly string[], withProofs: boolean) {
    return this.#coins.coins(accountIds, withProofs);
  }

  coinTotals(filter: LedgerCoinFilter, fromDewies: bigint | null) {
    return this.#coins.coinTotals(filter, fromDewies);
  }

  coinAmounts(filter: LedgerCoinFilter, belowDewies: bigint | null) {
    return this.#coins.coinAmounts(filter, belowDewies);
  }

  leastCoinAmount(filter: LedgerCoinFilter, fromDewies: bigint) {
    return this.#coins.leastCoinAmount(filter, fromDewies);
  }

  coinsOfAmount(filter: LedgerCoinFilter, chosen: LedgerCoinAmount) {
    return this.#coins.coinsOfAmount(filter, chosen);
  }

  longChains() {
    return longChains(this.#statements);
  }

  reserve(outPoints: readonly OutPointRef[]): boolean {
    return this.#reserve(() => this.#txos.reserve(outPoints)) ?? false;
  }

  reserveCoins(candidates: readonly number[]) {
    return this.#reserve(() => this.#txos.reserveCoins(candidates));
  }

  /** Runs a task that reserves outputs. Returns null if not all outputs could be reserved. */
  #reserve<T>(task: () => T): T | null {
    try {
      return this.#write(task);
    } catch (error) {
      if (error instanceof NotReserved) return null;
      throw error;
    }
  }

  release(outPoints: readonly OutPointRef[]): void {
    this.#write(() => this.#txos.release(outPoints));
  }

  releaseAll(accountIds?: readonly string[]): void {
    this.#write(() => this.#txos.releaseAll(accountIds));
  }

  /** Releases the reservations of an earlier run whose outputs were not spent. */
  releaseLeft(): void {
    this.#write(() => this.#txos.releaseLeft());
  }

  transactions(filter: TransactionFilter, page: QueryPage, walletAccountIds: readonly string[]) {
    return this.#transactions.transactions(filter, page, walletAccountIds);
  }

  transactionCount(filter: TransactionFilter) {
    return this.#remembered('transactionCount', [filter], () => this.#transactions.transactionCount(filter));
  }

  addresses(filter: AddressFilter, page?: QueryPage, order?: AddressOrder) {
    return this.#transactions.addresses(filter, page, order);
  }

  addressCount(filter: AddressFilter) {
    return this.#transactions.addressCount(filter);
  }

  unusedAddresses(accountId: string, chain: number, maxUses: number, count?: number) {
    return this.#transactions.unusedAddresses(accountId, chain, maxUses, count);
  }

  maxGap(accountId: string, chain: number) {
    return this.#transactions.maxGap(accountId, chain);
  }

  addKeys(accountId: string, chain: number, keys: readonly NewKey[]): void {
    this.#write(() => this.#histories.addKeys(accountId, chain, keys));
  }

  chainEnd(accountId: string, chain: number) {
    return this.#histories.chainEnd(accountId, chain);
  }

  statuses(accountId: string) {
    return this.#histories.statuses(accountId);
  }

  statusesOf(addresses: readonly string[]) {
    return this.#histories.statusesOf(addresses);
  }

  chainsOf(addresses: readonly string[]) {
    return this.#histories.chainsOf(addresses);
  }

  known(txids: readonly Uint8Array[]) {
    return this.#histories.known(txids);
  }

  unlike(address: string, txids: Uint8Array, heights: Int32Array) {
    return this.#histories.unlike(address, txids, heights);
  }

  missingFrom(address: string, txids: Uint8Array, heights: Int32Array) {
    return this.#histories.missingFrom(address, txids, heights);
  }

  saveTransactions(transactions: readonly FiledTransaction[]): void {
    this.#write(() => this.#histories.saveTransactions(transactions));
  }

  saveHistories(
    updates: readonly HistoryUpdate[],
    changed: readonly Uint8Array[],
    kept: readonly Uint8Array[],
  ) {
    return this.#write(() => this.#histories.saveHistories(updates, changed, kept));
  }

  agree(statuses: readonly AddressStatus[], kept: readonly Uint8Array[], awaited: readonly Uint8Array[]) {
    return this.#write(() => this.#histories.agree(statuses, kept, awaited));
  }

  removeUnlisted(): void {
    this.#write(() => this.#histories.removeUnlisted());
  }

  /** Records a transaction of the wallet before it is broadcast. */
  noteSending(transaction: SentTransaction): void {
    this.#write(() => this.#uses.noteSending(transaction));
  }

  /** Removes a transaction whose broadcast cannot have succeeded. */
  forgetSending(transaction: SentTransaction): void {
    this.#write(() => this.#uses.forgetSending(transaction));
  }

  saveBroadcast(transaction: FiledTransaction) {
    return this.#write(() => this.#histories.saveBroadcast(transaction));
  }

  rewind(height: number) {
    return this.#write(() => this.#histories.rewind(height));
  }

  close(): void {
    this.#statements.close();
  }
}
