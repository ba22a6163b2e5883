/**
 * Interface of the ledger for the rest of the daemon: headers, wallet transactions, and requests to a hub. Source of the
 * semantics: lbry-sdk lbry/wallet/ledger.py `Ledger`.
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
  /** Height of the block; 0 or -1 for a transaction in the mempool. */
  readonly height: number;
  readonly position: number;
  /** Whether a merkle branch was checked that proves the transaction against a header of the chain. */
  readonly isVerified: boolean;
}

/** A transaction of the wallet that is new, or whose height changed. */
export interface TransactionEvent {
  readonly tx: Transaction;
  readonly txid: Buffer;
  readonly height: number;
  readonly accountIds: readonly string[];
}

/** Sync progress of the ledger relative to the hub in use. */
export interface LedgerSyncState {
  /** Target height of the header sync, at least the current height; null until a hub has sent its height. */
  readonly targetHeight: number | null;
  /** Number of addresses whose histories are requested from a hub; 0 if no hub is connected. */
  readonly addresses: number;
  /** Number of addresses whose history was not received yet. */
  readonly addressesLeft: number;
  /** Number of transactions that were fetched for the histories of addresses. */
  readonly fetched: number;
  /**
   * Share of the histories that are already known, from 0 to 1. The addresses of the current round count partly, by the
   * share of their transactions that are fetched.
   */
  readonly historyShare: number;
}

export interface LedgerEvents {
  headers: [height: number];
  /** Emitted when history data was fetched from a hub or written to the database. */
  histories: [];
  transaction: [event: TransactionEvent];
  /** Emitted after headers were replaced. `forkHeight` is the height of the last common block. */
  reorganisation: [forkHeight: number];
  /** The histories of all accounts match those of the hub. */
  synced: [];
}

/**
 * Requests to the connected hub. A request waits for a connection up to the time limit of one call, and is sent to the next
 * hub after a failure. Throws `DaemonError`: `RPCError` if the hub answers with an error, `TimeoutError`, `ConnectionError`.
 */
export interface HubPort {
  /** Whether a hub is connected. Also true during the header sync. */
  readonly isConnected: boolean;
  /** Resolves URLs. The result is a message `Outputs` with one row per URL. */
  resolve(urls: readonly string[]): Promise<Buffer>;
  search(query: Readonly<Record<string, unknown>>): Promise<Buffer>;
  claimById(claimId: string): Promise<Buffer>;
  /**
   * Reports an invalid response of `resolve`, `search` or `claimById`. The hub and the reason are logged, and the next hub
   * is used if one is available. `reason` continues a sentence with the subject "it".
   */
  distrust(answer: Buffer, reason: string): void;
  call(method: string, params: readonly unknown[] | Readonly<Record<string, unknown>>): Promise<unknown>;
}

export interface DaemonLedger {
  readonly params: LedgerParams;
  /** Height of the last header. */
  readonly height: number;
  readonly headers: HeaderView;
  readonly database: LedgerDatabase;
  readonly hub: HubPort;
  readonly syncState: LedgerSyncState;
  /**
   * Adds an account. Resolves when its addresses exist up to the gaps and, with a connected hub, its history is in the
   * database. An account may be added several times; it stays until `remove` has been called the same number of times.
   */
  add(account: AddressSource): Promise<void>;
  remove(accountId: string): void;
  isSynced(accountId: string): boolean;
  /** Resolves when the histories of all accounts are equal to those of the hub. */
  whenSynced(): Promise<void>;
  /**
   * Like `whenSynced`, but also resolves when the only hub is behind the best chain known, because its histories cannot be
   * used until it reaches that chain.
   */
  whenUsable(): Promise<void>;
  /** Creates addresses until the gaps are full. Resolves to the new addresses. */
  ensureGap(account: AddressSource): Promise<readonly string[]>;
  /**
   * Broadcasts a transaction. Resolves when a hub has accepted it and it is in the database. Throws `DaemonError` `RPCError`
   * with the hub's text if it is refused.
   */
  broadcast(tx: Transaction): Promise<void>;
  /** Resolves to true when a hub lists the transaction in a history of the wallet, or to false on timeout. */
  taken(txid: Uint8Array, timeoutMs: number): Promise<boolean>;
  /** Transaction from the database or a hub, with a verified branch; null if unknown. */
  transaction(txid: Uint8Array): Promise<LedgerTransaction | null>;
  /** Returns transactions by printed txid. Unknown transactions are absent from the map. */
  transactions(txids: readonly Uint8Array[]): Promise<Map<string, LedgerTransaction>>;
  /**
   * Disconnects from the hub in use and connects to the first suitable server of the settings. Resolves to false if that
   * takes longer than the time limit of a call.
   */
  reconnect(): Promise<boolean>;
  /** Member `wallet` of the result of `status`. */
  status(): JsonOut;
  on<Name extends keyof LedgerEvents>(name: Name, listener: (...args: LedgerEvents[Name]) => void): void;
  off<Name extends keyof LedgerEvents>(name: Name, listener: (...args: LedgerEvents[Name]) => void): void;
}
