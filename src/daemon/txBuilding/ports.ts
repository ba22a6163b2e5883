/** What making transactions takes from the ledger, from wallets and from the daemon, as narrow as it is needed. */
import type { Bytes } from '../../util/bytes.js';
import type { JsonObject, JsonValue } from '../../util/json/json.js';
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
  /** Reserves a receiving address for a transaction until it is freed. */
  takeReceivingAddress(): Promise<string>;
  nextChangeKeyHash(): Promise<Bytes>;
  /** Whether change goes to a witness program of the key hash (P2WPKH). */
  readonly paysToWitness?: boolean;
  /** No transaction will pay to it that does not by then. */
  freeAddress(address: string): void;
  freeChangeKeyHash(keyHash: Bytes): void;
  /** The private key of one of the account's addresses; null if it has no such address. Throws while locked. */
  privateKeyOf(pubkeyHash: Bytes): Promise<Bytes | null> | Bytes | null;
  readonly channelKeys: {
    /** The secret to a channel's public key of 33 bytes; null if it is not known. */
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
  /** The account that has the address; null if none has. */
  accountOf(address: string): Promise<AccountPort | null>;
  /** Adds an account of a form as in the wallet's file, on disk when it resolves. Throws `ValueError`. */
  addAccount(account: JsonObject): Promise<AccountPort>;
  /** Throws `AssertionError`. */
  assertUnlocked(): void;
  /** Resolves when the wallet's file is on disk. */
  save(): Promise<void>;
}

/** Claims of everyone, as the claim index has them; null for what is not found, or not as it says. */
export interface ClaimsPort {
  /** The wallet or account with this printed id. */
  byId(claimId: string): Promise<Txo | null>;
  at(url: string): Promise<Txo | null>;
  /** The channel that carries the key of that address. */
  channelOfKey(keyAddress: string): Promise<Txo | null>;
}

export interface ExchangePort {
  /** What an amount of a currency (LBC, BTC, USD) is worth. Throws `CurrencyConversionError`. */
  toDewies(currency: string, amount: string): bigint;
}

/** A stream that was made of a file, whose claim is not sent yet. */
export interface FileStream {
  /** 48 bytes. */
  readonly sdHash: Bytes;
  /** SHA-384 of the file, 48 bytes. */
  readonly fileHash: Bytes;
  /** The claim went out. `replaced`: the descriptor of the stream in whose place it comes, which is deleted. */
  published(claim: Txo, replaced: string | null): Promise<void>;
  /** The claim did not go out: blobs and rows go. */
  discard(): Promise<void>;
}

/** A file that was looked at, and is to be published. */
export interface PreparedFile {
  /** What the claim says of it, as arguments of commands. Hashes are zeros until the stream is made. */
  readonly fields: Readonly<Record<string, JsonValue | undefined>>;
  /** The extension that fits its content; null if the content shows none. */
  readonly contentExtension: string | null;
  makeStream(): Promise<FileStream>;
}

export interface FileChoice {
  readonly path: string;
  /** Refuse a film that cannot be played while it is loaded. */
  readonly validate: boolean;
  /** Publish a copy that can instead. */
  readonly optimize: boolean;
}

export interface PublishingPort {
  /**
   * `given`: arguments of the command, which go before what the file shows. `withHash`: also its hash, for a preview. Throws
   * `MissingPublishedFileError`, `EmptyPublishedFileError`, `FileNotFoundError` without ffmpeg, and where the check refuses it.
   */
  prepare(
    choice: FileChoice,
    given: Readonly<Record<string, JsonValue | undefined>>,
    withHash: boolean,
  ): Promise<PreparedFile>;
  /** The claim of a stream went out without a new file: a file that is here belongs to it from then on. */
  moved(claim: Txo): Promise<void>;
}

export interface KeyFeeLimit {
  readonly currency: string;
  readonly amount: string;
}

export interface TxBuildingPorts {
  readonly ledger: LedgerPort;
  readonly claims: ClaimsPort;
  readonly exchange: ExchangePort;
  /** Throws where the component `file_manager` does not run. */
  readonly publishing: () => PublishingPort;
  /** Whether it runs. */
  readonly hasFiles: () => boolean;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly settings: {
    readonly strategy: SelectionStrategy;
    readonly feePerNameChar: bigint;
    readonly maxKeyFee: KeyFeeLimit | null;
  };
}
