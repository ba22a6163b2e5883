/** What making transactions takes from the ledger, from wallets and from the daemon, as narrow as it is needed. */
import type { Bytes } from '../../util/bytes.js';
import type { JsonObject } from '../../util/json.js';
import type { Clock, RandomSource } from '../base/clock.js';
import type { Ledger } from '../ledger/ledger.js';
import type { LedgerDatabase } from '../ledger/ledgerDatabase.js';
import type { Txo } from '../txo/txo.js';
import type { SelectionStrategy } from '../wallet/tx/coinSelection.js';

export interface LedgerPort extends Pick<
  Ledger,
  'params' | 'height' | 'broadcast' | 'taken' | 'transaction'
> {
  readonly database: Pick<
    LedgerDatabase,
    | 'txos'
    | 'spendable'
    | 'coinTotals'
    | 'coinAmounts'
    | 'leastCoinAmount'
    | 'coinsOfAmount'
    | 'reserve'
    | 'reserveCoins'
    | 'release'
    | 'transactionCount'
    | 'addresses'
  >;
}

export interface ChannelKeyPair {
  /** 32 bytes. */
  readonly secret: Bytes;
  /** 33 bytes. */
  readonly publicKey: Bytes;
}

export interface AccountPort {
  readonly id: string;
  /** Whether it has a private key, locked or not: one that a channel was imported for may have the public one alone. */
  readonly isSpendable: boolean;
  /** Where a transaction of ours pays to: no other one gets it until it is freed. */
  takeReceivingAddress(): Promise<string>;
  nextChangeKeyHash(): Promise<Bytes>;
  /** No transaction will pay to it that does not by then. */
  freeAddress(address: string): void;
  freeChangeKeyHash(keyHash: Bytes): void;
  /** The private key of one of the account's addresses; null where it has no such address. Throws while locked. */
  privateKeyOf(pubkeyHash: Bytes): Promise<Bytes | null> | Bytes | null;
  readonly channelKeys: {
    /** The secret to a channel's public key of 33 bytes; null where it is not known. */
    keyFor(publicKey: Bytes): Bytes | null;
    /** A key that no channel of the account carries. */
    next(): Promise<ChannelKeyPair>;
    /** Files a key in the wallet, which is not saved by that. */
    import(secret: Bytes): ChannelKeyPair;
  };
}

export interface WalletPort {
  /** The first is the default one. */
  readonly accounts: readonly AccountPort[];
  /** The default one without an id. Throws `ValueError` where there is none. */
  account(id?: string): AccountPort;
  accountsOrAll(ids?: readonly string[]): readonly AccountPort[];
  /** The account that has the address; null where none has. */
  accountOf(address: string): Promise<AccountPort | null>;
  /** Adds an account of a form as in the wallet's file, on disk when it resolves. Throws `ValueError`. */
  addAccount(account: JsonObject): Promise<AccountPort>;
  /** Throws `AssertionError`. */
  assertUnlocked(): void;
  /** Resolves when the wallet's file is on disk. */
  save(): Promise<void>;
}

/** Claims of everybody, as the claim index has them; null for what is not found, or not as it says. */
export interface ClaimsPort {
  /** By its id as printed. */
  byId(claimId: string): Promise<Txo | null>;
  at(url: string): Promise<Txo | null>;
  /** The channel that carries the key of that address. */
  channelOfKey(keyAddress: string): Promise<Txo | null>;
}

export interface ExchangePort {
  /** What an amount of a currency (LBC, BTC, USD) is worth. Throws `CurrencyConversionError`. */
  toDewies(currency: string, amount: string): bigint;
}

export interface KeyFeeLimit {
  readonly currency: string;
  readonly amount: string;
}

export interface MakingPorts {
  readonly ledger: LedgerPort;
  readonly claims: ClaimsPort;
  readonly exchange: ExchangePort;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly settings: {
    readonly strategy: SelectionStrategy;
    readonly feePerNameChar: bigint;
    readonly maxKeyFee: KeyFeeLimit | null;
  };
}
