/** Minimal interfaces of the ledger, the wallets and the daemon that the building of transactions needs. */
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
  /** Returns a receiving address and reserves it until `freeAddress` is called. */
  takeReceivingAddress(): Promise<string>;
  nextChangeKeyHash(): Promise<Bytes>;
  /** Whether change goes to a witness program of the key hash (P2WPKH). */
  readonly paysToWitness?: boolean;
  /** Ends the reservation of an address. */
  freeAddress(address: string): void;
  freeChangeKeyHash(keyHash: Bytes): void;
  /**
   * Private key for the hash of one of the account's keys; null if the account lacks the key. Throws while the wallet is
   * locked.
   */
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
  /** Accounts of the wallet. The first one is the default account. */
  readonly accounts: readonly AccountPort[];
  /** Returns the account with an id; without an id, the default account. Throws `ValueError` if there is none. */
  account(id?: string): AccountPort;
  accountsOrAll(ids?: readonly string[]): readonly AccountPort[];
  /** Account that owns the address; null if none. */
  accountOf(address: string): Promise<AccountPort | null>;
  /** Adds an account in the form of the wallet file. When the promise resolves, the account is on disk. Throws `ValueError`. */
  addAccount(account: JsonObject): Promise<AccountPort>;
  /** Throws `AssertionError`. */
  assertUnlocked(): void;
  /** Resolves when the wallet's file is on disk. */
  save(): Promise<void>;
}

/** Lookups of claims of any party in the claim index. They resolve to null if the claim is not found or the response is wrong. */
export interface ClaimsPort {
  /** The claim with this printed id. */
  byId(claimId: string): Promise<Txo | null>;
  at(url: string): Promise<Txo | null>;
  /** The channel whose public key has this address. */
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

/** A file that was inspected and can now be published. */
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
   * Inspects a file. `given` are arguments of the command, which take precedence over the file's data. `withHash` also
   * computes the file's hash, which a preview shows. Throws `MissingPublishedFileError`, `EmptyPublishedFileError`,
   * `FileNotFoundError` without ffmpeg, and an error if the video check refuses the file.
   */
  prepare(
    choice: FileChoice,
    given: Readonly<Record<string, JsonValue | undefined>>,
    withHash: boolean,
  ): Promise<PreparedFile>;
  /**
   * Called after the broadcast of a stream's claim without a new file. Links the claim to the daemon's file of the stream,
   * if there is one.
   */
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
  /** Whether the component `file_manager` runs. */
  readonly hasFiles: () => boolean;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly settings: {
    readonly strategy: SelectionStrategy;
    readonly feePerNameChar: bigint;
    readonly maxKeyFee: KeyFeeLimit | null;
  };
}
