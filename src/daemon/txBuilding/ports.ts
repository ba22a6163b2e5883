/** Minimal interfaces of the ledger, the wallets and the daemon that the building of transactions needs. */
import type { Bytes } from '../../util/bytes.js';
import type { JsonObject, JsonValue } from '../../util/json/json.js';
import type { Clock, DaemonRandom } from '../base/clock.js';
import type { DaemonLedger } from '../ledger/ledger.js';
import type { LedgerDatabase } from '../ledger/ledgerDatabase.js';
import type { Txo } from '../txo/txo.js';
import type { SelectionStrategy } from '../wallet/tx/coinSelection.js';

export interface TxLedgerPort extends Pick<
  DaemonLedger,
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
    | 'longChains'
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
   * Whether the account has a private key, encrypted or not. An account created for an imported channel may have only the
   * public key.
   */
  readonly isSpendable: boolean;
  /** Returns a receiving address and reserves it until `freeAddress` is called, so that other transactions do not get it. */
  takeReceivingAddress(): Promise<string>;
  nextChangeKeyHash(): Promise<Bytes>;
  /** Whether change is paid to a witness program of the key hash (P2WPKH). */
  readonly paysToWitness?: boolean;
  /** Ends the reservation of an address (`freeAddress`) or of a change key (`freeChangeKeyHash`). */
  freeAddress(address: string): void;
  freeChangeKeyHash(keyHash: Bytes): void;
  /**
   * Private key for the hash of one of the account's public keys; null if the account does not have the key. Throws while
   * the wallet is locked.
   */
  privateKeyOf(pubkeyHash: Bytes): Promise<Bytes | null> | Bytes | null;
  readonly channelKeys: {
    /** Private key for a channel's public key of 33 bytes; null if unknown. */
    keyFor(publicKey: Bytes): Bytes | null;
    /** Returns the next key that no channel of the account uses. */
    next(): Promise<ChannelKeyPair>;
    /** Adds a key to the wallet without saving the wallet. */
    import(secret: Bytes): ChannelKeyPair;
  };
}

export interface WalletPort {
  /** Accounts of the wallet. The first account is the default account. */
  readonly accounts: readonly AccountPort[];
  /**
   * Returns the account with the id, or the default account if no id is given. Throws `ValueError` if
   * the wallet does not have that account.
   */
  account(id?: string): AccountPort;
  accountsOrAll(ids?: readonly string[]): readonly AccountPort[];
  /** Returns the account that owns the address; null if none. */
  accountOf(address: string): Promise<AccountPort | null>;
  /**
   * Adds an account in the form of the wallet file. When the promise resolves, the wallet file contains the account. Throws
   * `ValueError`.
   */
  addAccount(account: JsonObject): Promise<AccountPort>;
  /** Throws `AssertionError`. */
  assertUnlocked(): void;
  /** Writes the wallet's file. Resolves when the file is on disk. */
  save(): Promise<void>;
}

/**
 * Finds claims of any owner in the claim index. The functions resolve to null if the claim is not found or the response is
 * wrong.
 */
export interface ClaimsPort {
  /** Finds the claim with this printed id; null if there is none. */
  byId(claimId: string): Promise<Txo | null>;
  at(url: string): Promise<Txo | null>;
  /** Finds the channel whose public key has this address; null if there is none. */
  channelOfKey(keyAddress: string): Promise<Txo | null>;
}

export interface ExchangePort {
  /** Converts an amount of a currency (LBC, BTC, USD) to dewies. Throws `CurrencyConversionError`. */
  toDewies(currency: string, amount: string): bigint;
}

/** A stream that was created from a file and whose claim is not broadcast yet. */
export interface FileStream {
  /** 48 bytes. */
  readonly sdHash: Bytes;
  /** SHA-384 of the file's content, 48 bytes. */
  readonly fileHash: Bytes;
  /** Called after the broadcast of the claim. `replaced` is the descriptor hash of the replaced stream, which is deleted. */
  published(claim: Txo, replaced: string | null): Promise<void>;
  /** Deletes the blobs and rows of the stream. Called if the claim was not broadcast. */
  discard(): Promise<void>;
  /** Permits the deletion of the stream. Called last, also if it is unknown whether the claim was broadcast. */
  release(): void;
}

/** A file that was inspected and can be published. */
export interface PreparedFile {
  /** Claim fields with the file's data, as command arguments. Hashes consist of zeros until the stream is created. */
  readonly fields: Readonly<Record<string, JsonValue | undefined>>;
  /** File extension that the content indicates; null if the type of the content is unknown. */
  readonly contentExtension: string | null;
  makeStream(): Promise<FileStream>;
}

export interface FileChoice {
  readonly path: string;
  /** Whether to refuse a video that cannot be streamed. */
  readonly validate: boolean;
  /** Whether to publish a streamable copy instead of the file. */
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
   * Called after the broadcast of a stream claim that was updated without a new file. Links the claim to the daemon's file
   * of the stream, if that file exists.
   */
  moved(claim: Txo): Promise<void>;
}

export interface KeyFeeLimit {
  readonly currency: string;
  readonly amount: string;
}

export interface TxBuildingPorts {
  readonly ledger: TxLedgerPort;
  readonly claims: ClaimsPort;
  readonly exchange: ExchangePort;
  /** Returns the functions for publishing. Throws if the component `file_manager` does not run. */
  readonly publishing: () => PublishingPort;
  /** Whether the component `file_manager` runs. */
  readonly hasFiles: () => boolean;
  readonly clock: Clock;
  readonly random: DaemonRandom;
  readonly settings: {
    readonly strategy: SelectionStrategy;
    readonly feePerNameChar: bigint;
    readonly maxKeyFee: KeyFeeLimit | null;
  };
}
