/**
 * What the ledger's database answers and takes. It lives in a thread of its own, so every call is a promise; calls are
 * carried out in the order of their making, each whole or not at all.
 * Source of the meaning: lbry-sdk lbry/wallet/database.py.
 */
import type {
  OutPointRef,
  Page,
  PlotDay,
  PlotRange,
  TxoFilter,
  TxoPage,
  TxoRow,
  TxoView,
} from './txoQuery.js';

/** Dewies, of unspent outputs that are not reserved. */
export interface Balance {
  readonly total: bigint;
  /** Types other and purchase. */
  readonly available: bigint;
  /** The rest, by what it is: */
  readonly reserved: bigint;
  readonly claims: bigint;
  /** Supports whose first input is the same account's. */
  readonly supports: bigint;
  readonly tips: bigint;
}

/** A coin that may pay, as little of it as choosing needs. */
export interface CoinCandidate {
  /** Number of the account in the database. */
  readonly number: number;
  /** The number of its transaction. */
  readonly tx: number;
  readonly amountDewies: bigint;
  readonly height: number;
  /** False unless proofs are asked for. */
  readonly isVerified: boolean;
}

/** Which coins may pay: of types other and purchase, unspent and not reserved. */
export interface CoinFilter {
  /** Whose. Of equal coins those of an earlier account come first. */
  readonly accountIds: readonly string[];
  /** Only those whose transactions are in blocks. */
  readonly isConfirmed: boolean;
}

export interface CoinTotals {
  readonly count: number;
  /** Different amounts. */
  readonly amounts: number;
  readonly sumDewies: bigint;
}

/** The number of coins that have that amount. */
export interface CoinAmount {
  readonly amountDewies: bigint;
  readonly count: number;
}

/** A coin that pays. */
export interface SpendableCoin {
  /** 32 bytes, wire order. */
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
  /** Position in its block; -1 if unconfirmed. */
  readonly position: number;
  readonly isVerified: boolean;
  /** As printed; null if it is not a purchase. */
  readonly purchasedClaimId: string | null;
  /** Spent output of each input; null if unknown. */
  readonly spent: readonly (TxoRow | null)[];
  /** Null for outputs that are not kept: not mine, and not of a transaction that spends mine. */
  readonly outputs: readonly (TxoRow | null)[];
}

export interface TransactionFilter {
  /** Transactions with an input or output of one of these; null asks nothing. */
  readonly accountIds: readonly string[] | null;
  readonly txids?: readonly Uint8Array[];
  /** Purchases that spend coins of the accounts. */
  readonly isPurchase?: boolean;
  /** Id in the hex form that programs print. */
  readonly purchasedClaimIds?: readonly string[];
}

export interface AddressFilter {
  readonly accountIds: readonly string[];
  readonly chain?: number;
  readonly address?: string;
  /** Only addresses with fewer uses; transactions count that are in no history any more, or may have been sent. */
  readonly usedLessThan?: number;
}

/** `uses`: least used first, as `usedLessThan` counts, then by index. */
export type AddressOrder = 'index' | 'uses';

export interface AddressRow {
  readonly address: string;
  readonly accountId: string;
  readonly chain: number;
  readonly index: number;
  /** Transactions in its history as it is. */
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
  /** Sums by day of the estimated block time, ascending; outputs in no block are on no day. */
  txoPlot(filter: TxoFilter, range: PlotRange): Promise<PlotDay[]>;
  /** The sum of each account's own balance. Only outputs in blocks up to `maxHeight` where that is given. */
  balance(accountIds: readonly string[], maxHeight?: number): Promise<Balance>;

  /** Coins of types other and purchase, unspent and not reserved, in the order `height` of lists. */
  spendable(accountIds: readonly string[], withProofs?: boolean): Promise<CoinCandidate[]>;
  /** Totals of coins with at least this amount; of all for null, and `amounts` is then 0. */
  coinTotals(filter: CoinFilter, fromDewies: bigint | null): Promise<CoinTotals>;
  /** The next amounts below that one, or from the largest on (null), largest first; none where there are no more. */
  coinAmounts(filter: CoinFilter, belowDewies: bigint | null): Promise<CoinAmount[]>;
  /** The least amount from that one on; null if there is none. */
  leastCoinAmount(filter: CoinFilter, fromDewies: bigint): Promise<bigint | null>;
  /**
   * Numbers of the first this many coins of an amount, by account, each account's in the order `height` of lists; fewer
   * where there are not as many.
   */
  coinsOfAmount(filter: CoinFilter, chosen: CoinAmount): Promise<number[]>;
  /** Reserves candidates, all or none: null, and nothing changed, where one is gone, spent or reserved already. On disk when it resolves. */
  reserveCoins(candidates: readonly number[]): Promise<SpendableCoin[] | null>;
  /** All or none: false, and nothing changed, where one is unknown, spent or reserved already. On disk when it resolves. */
  reserve(outPoints: readonly OutPointRef[]): Promise<boolean>;
  release(outPoints: readonly OutPointRef[]): Promise<void>;
  /** Releases reservations, by default of all accounts. */
  releaseAll(accountIds?: readonly string[]): Promise<void>;

  /** Mempool first, then the highest block, in it the last. `walletAccountIds` says whose "mine" is meant. */
  transactions(
    filter: TransactionFilter,
    page: Page,
    walletAccountIds: readonly string[],
  ): Promise<TransactionRow[]>;
  transactionCount(filter: TransactionFilter): Promise<number>;

  addresses(filter: AddressFilter, page?: Page, order?: AddressOrder): Promise<AddressRow[]>;
  addressCount(filter: AddressFilter): Promise<number>;
  /** At most this many addresses, ten unless given, that were used less often than allowed, least used first, then by index. */
  unusedAddresses(accountId: string, chain: number, maxUses: number, count?: number): Promise<AddressRow[]>;
  /** Longest run of unused addresses before a used one. */
  maxGap(accountId: string, chain: number): Promise<number>;
}
