/**
 * Interface of the ledger's database. The database runs in its own thread, so every call returns a promise. Calls run in
 * order, and each is atomic. Source of the semantics: lbry-sdk lbry/wallet/database.py.
 */
import type {
  OutPointRef,
  QueryPage,
  PlotDay,
  PlotRange,
  TxoFilter,
  TxoPage,
  TxoRow,
  TxoView,
} from './txoQuery.js';

/** Balance in dewies of unspent outputs that no pending transaction has reserved. */
export interface LedgerBalance {
  readonly total: bigint;
  /** Amount of the outputs of types `other` and `purchase`, which are spendable. */
  readonly available: bigint;
  /** Amount of the outputs of all other types. The following members itemize it. */
  readonly reserved: bigint;
  readonly claims: bigint;
  /** Amount of supports whose first input belongs to the same account. Other supports are tips. */
  readonly supports: bigint;
  readonly tips: bigint;
}

/** A spendable output, with only the fields that coin selection needs. */
export interface CoinCandidate {
  /** Number of the account in the database. */
  readonly number: number;
  /** Number of the transaction in the database. */
  readonly tx: number;
  readonly amountDewies: bigint;
  readonly height: number;
  /** Whether a merkle branch proves the transaction. False unless the caller requested proofs. */
  readonly isVerified: boolean;
}

/** Filter of spendable coins: unspent outputs of the types `other` and `purchase` that are not reserved. */
export interface LedgerCoinFilter {
  /** Accounts of the coins. Among equal coins, those of an earlier account come first. */
  readonly accountIds: readonly string[];
  /** Whether only confirmed coins match. */
  readonly isConfirmed: boolean;
  /** Numbers of transactions in the database whose outputs do not match. */
  readonly notOf?: readonly number[];
}

export interface LedgerCoinTotals {
  readonly count: number;
  /** Number of different amounts. */
  readonly amounts: number;
  readonly sumDewies: bigint;
}

/** An amount, and the number of coins with this amount. */
export interface LedgerCoinAmount {
  readonly amountDewies: bigint;
  readonly count: number;
}

/** A coin selected for a payment. */
export interface SpendableCoin {
  /** Txid of the coin: 32 bytes, wire order. */
  readonly txid: Buffer;
  readonly nout: number;
  readonly amountDewies: bigint;
  readonly height: number;
  readonly isVerified: boolean;
  readonly address: string;
}

export interface TransactionRow {
  readonly txid: Buffer;
  readonly raw: Buffer;
  readonly height: number;
  /** Position of the transaction in its block; -1 if unconfirmed. */
  readonly position: number;
  readonly isVerified: boolean;
  /** Claim id as printed; null if the transaction is not a purchase. */
  readonly purchasedClaimId: string | null;
  /** For each input the output that it spends; null if the output is unknown. */
  readonly spent: readonly (TxoRow | null)[];
  /**
   * Outputs by index. Null for those that are not stored: outputs of others in a transaction that spends nothing of the
   * wallet.
   */
  readonly outputs: readonly (TxoRow | null)[];
}

export interface TransactionFilter {
  /** Selects transactions with an input or output of these accounts; null selects all. */
  readonly accountIds: readonly string[] | null;
  readonly txids?: readonly Uint8Array[];
  /** Whether to include only purchases paid by the accounts. */
  readonly isPurchase?: boolean;
  /** Claim ids in the hex form that programs print. */
  readonly purchasedClaimIds?: readonly string[];
}

export interface AddressFilter {
  readonly accountIds: readonly string[];
  readonly chain?: number;
  readonly address?: string;
  /** Only addresses with fewer uses match. Transactions that left the history or may have been broadcast count as uses too. */
  readonly usedLessThan?: number;
}

/**
 * Order of addresses. `index`: by derivation index. `uses`: by ascending number of uses, counted as in `usedLessThan`, then
 * by index.
 */
export type AddressOrder = 'index' | 'uses';

export interface AddressRow {
  readonly address: string;
  readonly accountId: string;
  readonly chain: number;
  readonly index: number;
  /** Number of transactions in the current history of the address. */
  readonly usedTimes: number;
  /** 33 bytes. */
  readonly publicKey: Buffer;
  readonly chainCode: Buffer;
  readonly depth: number;
}

export interface LedgerDatabase {
  txos(filter: TxoFilter, page?: TxoPage, view?: TxoView): Promise<TxoRow[]>;
  txoCount(filter: TxoFilter): Promise<number>;
  /** Dewies. */
  txoSum(filter: TxoFilter): Promise<bigint>;
  /** Sums by day of the estimated block time, ascending. Unconfirmed outputs are omitted. */
  txoPlot(filter: TxoFilter, range: PlotRange): Promise<PlotDay[]>;
  /** Sum of the balances of the accounts. `maxHeight` limits it to outputs in blocks up to that height. */
  balance(accountIds: readonly string[], maxHeight?: number): Promise<LedgerBalance>;

  /** Spendable coins (types other and purchase, unspent, not reserved) in the list order `height`. */
  spendable(accountIds: readonly string[], withProofs?: boolean): Promise<CoinCandidate[]>;
  /** Returns the totals of the coins with at least this amount. With null, the totals of all coins; `amounts` is then 0. */
  coinTotals(filter: LedgerCoinFilter, fromDewies: bigint | null): Promise<LedgerCoinTotals>;
  /**
   * The largest amounts below `belowDewies` in descending order; null starts at the largest amount. Empty if there are no
   * further amounts.
   */
  coinAmounts(filter: LedgerCoinFilter, belowDewies: bigint | null): Promise<LedgerCoinAmount[]>;
  /** The smallest coin amount that is at least `fromDewies`; null if there is none. */
  leastCoinAmount(filter: LedgerCoinFilter, fromDewies: bigint): Promise<bigint | null>;
  /**
   * Row numbers of unspent outputs with the amount, sorted by account and then in the list order `height`. Returns fewer
   * than requested if fewer exist.
   */
  coinsOfAmount(filter: LedgerCoinFilter, chosen: LedgerCoinAmount): Promise<number[]>;
  /**
   * Numbers of the unconfirmed transactions whose outputs cannot be spent before the next block, because the mempool's limit
   * of unconfirmed ancestors or descendants is reached.
   */
  longChains(): Promise<number[]>;
  /**
   * Reserves all candidates or none. Resolves to null, without changes, if one is missing, spent or already reserved. When
   * the promise resolves, the reservation is on disk.
   */
  reserveCoins(candidates: readonly number[]): Promise<SpendableCoin[] | null>;
  /**
   * Reserves all outputs or none. Resolves to false, without changes, if one is unknown, spent or already reserved. When the
   * promise resolves, the reservation is on disk.
   */
  reserve(outPoints: readonly OutPointRef[]): Promise<boolean>;
  release(outPoints: readonly OutPointRef[]): Promise<void>;
  /** Releases the reservations of these accounts, or of all accounts by default. */
  releaseAll(accountIds?: readonly string[]): Promise<void>;

  /**
   * Transactions in list order: mempool first, then descending by height and position. `walletAccountIds` are the accounts
   * that "mine" refers to.
   */
  transactions(
    filter: TransactionFilter,
    page: QueryPage,
    walletAccountIds: readonly string[],
  ): Promise<TransactionRow[]>;
  transactionCount(filter: TransactionFilter): Promise<number>;

  addresses(filter: AddressFilter, page?: QueryPage, order?: AddressOrder): Promise<AddressRow[]>;
  addressCount(filter: AddressFilter): Promise<number>;
  /** Addresses with fewer than `maxUses` uses, sorted by number of uses, then by index. At most ten by default. */
  unusedAddresses(accountId: string, chain: number, maxUses: number, count?: number): Promise<AddressRow[]>;
  /** Length of the longest run of unused addresses before a used one. */
  maxGap(accountId: string, chain: number): Promise<number>;
}
