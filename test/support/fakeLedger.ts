/**
 * A ledger without a chain. It creates addresses on request; the test sets their history, balances and outputs. Members that
 * tests do not use are absent.
 */
import { addressOfKey } from '../../src/daemon/wallet/keys.js';
import { ledgerParams, type LedgerParams } from '../../src/daemon/base/ledgerParams.js';
import type { AddressChain, AddressSource } from '../../src/daemon/ledger/addressSource.js';
import type { DaemonLedger, LedgerTransaction } from '../../src/daemon/ledger/ledger.js';
import type {
  AddressFilter,
  AddressOrder,
  AddressRow,
  LedgerBalance,
  LedgerDatabase,
  TransactionFilter,
  TransactionRow,
} from '../../src/daemon/ledger/ledgerDatabase.js';
import type {
  QueryPage,
  PlotDay,
  PlotRange,
  TxoFilter,
  TxoPage,
  TxoRow,
  TxoView,
} from '../../src/daemon/ledger/txoQuery.js';

const NOTHING: LedgerBalance = { total: 0n, available: 0n, reserved: 0n, claims: 0n, supports: 0n, tips: 0n };

type MutableRow = { -readonly [Field in keyof AddressRow]: AddressRow[Field] };

export class FakeLedger {
  params: LedgerParams = ledgerParams('lbc_regtest');
  height = 0;
  readonly sources = new Map<string, AddressSource>();
  readonly rows: MutableRow[] = [];
  readonly balances = new Map<string, LedgerBalance>();
  readonly removed: string[] = [];
  /** Filters in the order of the calls. */
  readonly asked: { filter: TxoFilter; page?: TxoPage | undefined; view?: TxoView | undefined }[] = [];
  readonly transactionsAsked: TransactionFilter[] = [];
  readonly plotsAsked: PlotRange[] = [];
  released: (readonly string[] | undefined)[] = [];
  maxHeights: (number | undefined)[] = [];
  txoRows: (filter: TxoFilter) => TxoRow[] = () => [];
  transactionRows: TransactionRow[] = [];
  plot: PlotDay[] = [];
  known: (txid: Uint8Array) => LedgerTransaction | null = () => null;

  readonly headers = {
    height: 0,
    hashAt: () => null,
    timeSecAt: (height: number): number | null => (height <= 0 ? null : 1_446_058_291 + height * 150),
  };

  readonly database = {
    txos: (filter: TxoFilter, page?: TxoPage, view?: TxoView) => {
      this.asked.push({ filter, page, view });
      return Promise.resolve(this.txoRows(filter));
    },
    txoCount: (filter: TxoFilter) => Promise.resolve(this.txoRows(filter).length),
    txoSum: (filter: TxoFilter) =>
      Promise.resolve(this.txoRows(filter).reduce((sum, { amountDewies }) => sum + amountDewies, 0n)),
    txoPlot: (_filter: TxoFilter, range: PlotRange) => {
      this.plotsAsked.push(range);
      return Promise.resolve(this.plot);
    },
    balance: (ids: readonly string[], maxHeight?: number) => {
      this.maxHeights.push(maxHeight);
      return Promise.resolve(this.balances.get(ids.join()) ?? NOTHING);
    },
    releaseAll: (ids?: readonly string[]) => {
      this.released.push(ids);
      return Promise.resolve();
    },
    transactions: (filter: TransactionFilter) => {
      this.transactionsAsked.push(filter);
      return Promise.resolve(this.transactionRows);
    },
    transactionCount: () => Promise.resolve(this.transactionRows.length),
    addresses: (filter: AddressFilter, page: QueryPage = {}, order: AddressOrder = 'index') =>
      Promise.resolve(this.addresses(filter, page, order)),
    addressCount: (filter: AddressFilter) => Promise.resolve(this.addresses(filter, {}, 'index').length),
    unusedAddresses: (accountId: string, chain: number, maxUses: number, limit = 10) =>
      Promise.resolve(
        this.addresses({ accountIds: [accountId], chain, usedLessThan: maxUses }, { limit }, 'uses'),
      ),
    maxGap: (accountId: string, chain: number) =>
      Promise.resolve(longestRunBeforeUse(this.addresses({ accountIds: [accountId], chain }, {}, 'index'))),
  } satisfies Partial<LedgerDatabase>;

  add(account: AddressSource): Promise<void> {
    this.sources.set(account.accountId, account);
    return this.ensureGap(account).then(() => undefined);
  }

  remove(accountId: string): void {
    this.sources.delete(accountId);
    this.removed.push(accountId);
  }

  isSynced(accountId: string): boolean {
    return this.sources.has(accountId);
  }

  whenUsable(): Promise<void> {
    return this.whenSynced();
  }

  whenSynced(): Promise<void> {
    return Promise.resolve();
  }

  transaction(txid: Uint8Array): Promise<LedgerTransaction | null> {
    return Promise.resolve(this.known(txid));
  }

  ensureGap(account: AddressSource): Promise<readonly string[]> {
    const made: string[] = [];
    for (const chain of account.chains) made.push(...this.fill(account, chain));
    return Promise.resolve(made);
  }

  private fill(account: AddressSource, { chain, gap, isSingle }: AddressChain): string[] {
    const rows = this.addresses({ accountIds: [account.accountId], chain }, {}, 'index');
    const unusedAtEnd = rows.length - 1 - rows.findLastIndex(({ usedTimes }) => usedTimes > 0);
    const missing = isSingle ? 1 - rows.length : gap - unusedAtEnd;
    const made: string[] = [];
    for (let index = rows.length; made.length < missing; index++) {
      const { publicKey, chainCode, depth } = account.keyAt(chain, index);
      const address = addressOfKey(publicKey, this.params);
      this.rows.push({
        address,
        accountId: account.accountId,
        chain,
        index,
        usedTimes: 0,
        publicKey: Buffer.from(publicKey),
        chainCode: Buffer.from(chainCode),
        depth,
      });
      made.push(address);
    }
    return made;
  }

  /** Records a transaction that pays to the address. */
  use(address: string): void {
    this.rows.find((row) => row.address === address)!.usedTimes++;
  }

  private addresses(
    filter: AddressFilter,
    { offset = 0, limit }: QueryPage,
    order: AddressOrder,
  ): AddressRow[] {
    const found = this.rows.filter(
      (row) =>
        filter.accountIds.includes(row.accountId) &&
        (filter.chain === undefined || row.chain === filter.chain) &&
        (filter.address === undefined || row.address === filter.address) &&
        (filter.usedLessThan === undefined || row.usedTimes < filter.usedLessThan),
    );
    if (order === 'uses') found.sort((a, b) => a.usedTimes - b.usedTimes || a.index - b.index);
    return found.slice(offset, limit === undefined ? undefined : offset + limit);
  }

  /** This object with the type that the tested code expects. */
  get ledger(): DaemonLedger {
    return this as unknown as DaemonLedger;
  }
}

function longestRunBeforeUse(rows: readonly AddressRow[]): number {
  let [longest, run] = [0, 0];
  for (const { usedTimes } of rows) {
    if (usedTimes > 0) longest = Math.max(longest, run);
    run = usedTimes > 0 ? 0 : run + 1;
  }
  return longest;
}
