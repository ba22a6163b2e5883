/** Minimal interfaces of ledger, wallets and daemon for building transactions. */
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
  /**
   * Whether the account has a private key, locked or not. An account created for an imported channel may have only the
   * public key.
   */
  readonly isSpendable: boolean;
  /** Reserves a receiving address for a transaction until it is freed. */
  takeReceivingAddress(): Promise<string>;
  nextChangeKeyHash(): Promise<Bytes>;
  /** Whether change goes to a witness program of the key hash (P2WPKH). */
  readonly paysToWitness?: boolean;
  /** Ends the reservation of an address. */
  freeAddress(address: string): void;
  freeChangeKeyHash(keyHash: Bytes): void;
  /** Private key of one of the account's addresses; null for another address. Throws while locked. */
  privateKeyOf(pubkeyHash: Bytes): Promise<Bytes | null> | Bytes | null;
  readonly channelKeys: {
    /** Private key for a channel's public key of 33 bytes; null if unknown. */
    keyFor(publicKey: Bytes): Bytes | null;
    /** Next key that no channel of the account uses. */
    next(): Promise<ChannelKeyPair>;
    /** Adds a key to the wallet without saving the wallet. */
    import(secret: Bytes): ChannelKeyPair;
  };
}

export interface WalletPort {
  /** Accounts; the first is the default. */
  readonly accounts: readonly AccountPort[];
  /** The account with an id; the default account without one. Throws `ValueError` if there is none. */
  account(id?: string): AccountPort;
  accountsOrAll(ids?: readonly string[]): readonly AccountPort[];
  /** Account that owns the address; null if none. */
  accountOf(address: string): Promise<AccountPort | null>;
  /** Adds an account in the form of the wallet file. It is on disk when it resolves. Throws `ValueError`. */
  addAccount(account: JsonObject): Promise<AccountPort>;
  /** Throws `AssertionError`. */
  assertUnlocked(): void;
  /** Resolves when the wallet's file is on disk. */
  save(): Promise<void>;
}

/** Claims of any party from the claim index; null for a claim that is not found or not as specified. */
export interface ClaimsPort {
  /** The wallet or account with this printed id. */
  byId(claimId: string): Promise<Txo | null>;
  at(url: string): Promise<Txo | null>;
  /** Channel with the key of that address. */
  channelOfKey(keyAddress: string): Promise<Txo | null>;
}

export interface ExchangePort {
  /** Value of an amount of a currency (LBC, BTC, USD) in dewies. Throws `CurrencyConversionError`. */
  toDewies(currency: string, amount: string): bigint;
}

/** A stream created from a file whose claim is not broadcast yet. */
export interface FileStream {
  /** 48 bytes. */
  readonly sdHash: Bytes;
  /** SHA-384 of the file, 48 bytes. */
  readonly fileHash: Bytes;
  /** Called after the broadcast of the claim. `replaced` is the descriptor hash of the replaced stream, which is deleted. */
  published(claim: Txo, replaced: string | null): Promise<void>;
  /** Called if the claim was not broadcast: deletes blobs and rows. */
  discard(): Promise<void>;
}

/** An inspected file that is to be published. */
export interface PreparedFile {
  /** Claim fields of the file as command arguments. Hashes are zeros until the stream is created. */
  readonly fields: Readonly<Record<string, JsonValue | undefined>>;
  /** Extension by the file's content; null if its type is unknown. */
  readonly contentExtension: string | null;
  makeStream(): Promise<FileStream>;
}

export interface FileChoice {
  readonly path: string;
  /** Whether to refuse a video that cannot be streamed. */
  readonly validate: boolean;
  /** Whether to publish a streamable copy instead. */
  readonly optimize: boolean;
}

export interface PublishingPort {
  /**
   * Inspects a file. `given` are arguments of the command, which take precedence over the file's data. `withHash` adds the
   * hash, for a preview. Throws `MissingPublishedFileError`, `EmptyPublishedFileError`, `FileNotFoundError` without ffmpeg,
   * and the refusal of the check.
   */
  prepare(
    choice: FileChoice,
    given: Readonly<Record<string, JsonValue | undefined>>,
    withHash: boolean,
  ): Promise<PreparedFile>;
  /** Called after the broadcast of a stream's claim without a new file: links an existing file of the stream to it. */
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
  /** Publishing. Throws if the component `file_manager` does not run. */
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
