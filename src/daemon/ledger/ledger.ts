/**
 * What the rest of the daemon sees of the chain: headers, the wallet's transactions, and a hub to ask.
 * Source of the meaning: lbry-sdk lbry/wallet/ledger.py `Ledger`.
 */
import type { Transaction } from '../../primitives/transaction.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { LedgerParams } from '../base/ledgerParams.js';
import type { AddressSource } from './addressSource.js';
import type { LedgerDatabase } from './ledgerDatabase.js';

export interface HeaderView {
  /** Height of the last header; -1 without headers. */
  readonly height: number;
  /** Block id, 32 bytes in wire order; null for an unknown header. */
  hashAt(height: number): Buffer | null;
  /** Time from the header, or an estimate; null for an unconfirmed transaction. */
  timeSecAt(height: number): number | null;
}

export interface LedgerTransaction {
  readonly tx: Transaction;
  /** Above 0 in a block; 0 or -1 in the mempool. */
  readonly height: number;
  readonly position: number;
  /** Whether a merkle branch leads from it to a header of the chain. */
  readonly isVerified: boolean;
}

/** A transaction of the wallet that is new, or whose height changed. */
export interface TransactionEvent {
  readonly tx: Transaction;
  readonly txid: Buffer;
  readonly height: number;
  readonly accountIds: readonly string[];
}

/** How far the ledger is behind the hub of the moment. */
export interface SyncState {
  /** Target height of the header sync, at least the present height; null until a hub sent it. */
  readonly targetHeight: number | null;
  /** Addresses for which a hub is asked; 0 without one. */
  readonly addresses: number;
  /** Number of addresses without a known history. */
  readonly addressesLeft: number;
  /** Transactions that were fetched for them. */
  readonly fetched: number;
  /** How much of the histories is known, 0 to 1, where the last ones are counted by their transactions. */
  readonly historyShare: number;
}

export interface LedgerEvents {
  headers: [height: number];
  /** Something of what histories report was fetched or written. */
  histories: [];
  transaction: [event: TransactionEvent];
  /** The last height that both chains have. */
  reorganisation: [forkHeight: number];
  /** All accounts agree with the hub. */
  synced: [];
}

/**
 * Questions to the hub of the moment. They wait for a hub, up to the time-out of one call, and are asked of the next one
 * where one fails. Throws `DaemonError`: `RPCError` for what the hub refuses, `TimeoutError`, `ConnectionError`.
 */
export interface HubPort {
  /** True also during the header sync. */
  readonly isConnected: boolean;
  /** The message `Outputs`, one row a URL. */
  resolve(urls: readonly string[]): Promise<Buffer>;
  search(query: Readonly<Record<string, unknown>>): Promise<Buffer>;
  claimById(claimId: string): Promise<Buffer>;
  /**
   * Such an answer, of `resolve`, `search` or `claimById`, cannot be: the log says which hub gave it and why not, and another
   * one is asked from here on, where there is one. `reason` continues from "it".
   */
  distrust(answer: Buffer, reason: string): void;
  call(method: string, params: readonly unknown[] | Readonly<Record<string, unknown>>): Promise<unknown>;
}

export interface Ledger {
  readonly params: LedgerParams;
  /** Height of the last header. */
  readonly height: number;
  readonly headers: HeaderView;
  readonly database: LedgerDatabase;
  readonly hub: HubPort;
  readonly syncState: SyncState;
  /**
   * Resolves when the account's addresses are there, up to its gaps, and, where a hub is connected, when its history is
   * in the database. An account that is there already is counted again, and is removed as often.
   */
  add(account: AddressSource): Promise<void>;
  remove(accountId: string): void;
  isSynced(accountId: string): boolean;
  /** Resolves when all accounts agree with a hub. */
  whenSynced(): Promise<void>;
  /** Makes addresses until the gaps are kept; says which are new. */
  ensureGap(account: AddressSource): Promise<readonly string[]>;
  /**
   * Resolves when a hub has taken it, and it is in the database. Throws `DaemonError` `RPCError` with the hub's words
   * where it is refused.
   */
  broadcast(tx: Transaction): Promise<void>;
  /** Resolves when a hub shows the transaction in the history of the wallet; false when time is up. */
  taken(txid: Uint8Array, timeoutMs: number): Promise<boolean>;
  /** From the database or a hub, with a verified branch; null if unknown. */
  transaction(txid: Uint8Array): Promise<LedgerTransaction | null>;
  /** By printed txid; unknown ones are absent. */
  transactions(txids: readonly Uint8Array[]): Promise<Map<string, LedgerTransaction>>;
  /**
   * Leaves the hub of the moment for the first server of the settings that is fit. Resolves when it is connected; false if
   * that took longer than a call may.
   */
  reconnect(): Promise<boolean>;
  /** The component `wallet` of the answer to `status`. */
  status(): JsonOut;
  on<Name extends keyof LedgerEvents>(name: Name, listener: (...args: LedgerEvents[Name]) => void): void;
  off<Name extends keyof LedgerEvents>(name: Name, listener: (...args: LedgerEvents[Name]) => void): void;
}
