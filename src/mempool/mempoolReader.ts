/**
 * Interface of the mempool for other modules: its statistics, its transactions, the outputs that it creates and spends,
 * transactions for a block, and acceptance. `mempool.ts` implements it.
 */
import type { Transaction } from '../primitives/transaction.js';
import type { Bytes } from '../util/bytes.js';
import type { Slices } from '../util/slices.js';
import type { AcceptOptions, AcceptVerdict } from './acceptance.js';

/** A transaction in the mempool. Counts, sizes and fees of ancestors and descendants include the transaction itself. */
export interface MempoolEntry {
  readonly txid: Bytes;
  readonly wtxid: Bytes;
  /** Virtual size (BIP141). */
  readonly sizeBytes: number;
  readonly weight: number;
  readonly feeSat: bigint;
  /** Fee including the delta of `prioritisetransaction`. */
  readonly modifiedFeeSat: bigint;
  readonly entryTimeSec: number;
  /** Height of the chain when the transaction arrived. */
  readonly entryHeight: number;
  readonly descendantCount: number;
  readonly descendantSizeBytes: number;
  readonly descendantFeesSat: bigint;
  readonly ancestorCount: number;
  readonly ancestorSizeBytes: number;
  readonly ancestorFeesSat: bigint;
  /** Unconfirmed transactions whose outputs this transaction spends, without duplicates. */
  readonly parents: readonly Bytes[];
  /** Txids of unconfirmed transactions that spend the transaction, without duplicates. */
  readonly children: readonly Bytes[];
}

export interface MempoolReader {
  readonly size: number;
  /** Sum of the virtual sizes of all transactions. */
  readonly totalSizeBytes: number;
  readonly totalFeeSat: bigint;
  /** Memory use and its limit (`-maxmempool`), in bytes. */
  readonly usageBytes: number;
  readonly maxUsageBytes: number;
  /** Minimum fee rates in satoshis per 1,000 virtual bytes: for relay, and currently for acceptance. */
  readonly minRelayFeeRatePerKb: bigint;
  readonly minFeeRatePerKb: bigint;
  /** Number that is incremented when a transaction is added or removed (Core's `GetTransactionsUpdated`). */
  readonly changeCount: number;
  /** Number of transactions that callers of this node sent and that no peer has requested yet. */
  readonly unbroadcastCount: number;
  /** Whether the files of the last run have been read. */
  readonly isLoaded: boolean;
  /** Txids in mining order: each transaction after its ancestors, then by fee rate. */
  txidsInSlices(): Slices<readonly Bytes[]>;
  entry(txid: Bytes): MempoolEntry | null;
  transaction(txid: Bytes): Transaction | null;
  /** All unconfirmed ancestors or descendants of a mempool transaction, without the transaction itself. */
  ancestors(txid: Bytes): readonly MempoolEntry[];
  descendants(txid: Bytes): readonly MempoolEntry[];
  /** Output of a mempool transaction; null for any other output. `outPoint` has 36 bytes. */
  output(outPoint: Bytes): { amountSat: bigint; script: Bytes } | null;
  isSpent(outPoint: Bytes): boolean;
  /** Txid of the mempool transaction that spends the output; null if there is none. */
  spender(outPoint: Bytes): Bytes | null;
  /** Writes `mempool.dat`. Rejects when the disk fails. */
  save(): Promise<void>;
}

/** Data of a mempool transaction that relay to peers needs. */
export interface RelayEntry {
  /** Txid in wire order, one character per byte. */
  readonly key: string;
  readonly wtxid: Bytes;
  /** Transaction serialized with witness. The buffer must not be modified. */
  readonly bytes: Buffer;
  readonly hasWitness: boolean;
  /** Virtual size (BIP141). */
  readonly sizeBytes: number;
  readonly feeSat: bigint;
  /** Time of arrival, in seconds since 1970. */
  readonly timeSec: number;
  /** Number of unconfirmed ancestors, including the transaction itself. */
  readonly ancestorCount: number;
}

/**
 * Mempool queries for relay to peers, which are frequent. Txids are passed as keys: 32 bytes in wire order, one character
 * per byte.
 */
export interface RelaySource {
  /** Number that is incremented when a transaction is added or removed. */
  readonly changeCount: number;
  hasKey(key: string): boolean;
  relayEntry(key: string): RelayEntry | null;
  /** All transactions in mining order: each after its ancestors, then by fee rate. */
  relayEntries(): Slices<readonly RelayEntry[]>;
  /** All transactions in order of arrival. Transactions may be added and removed during the iteration. */
  transactions(): Iterable<RelayEntry>;
  /** Minimum fee rate of a mempool that was recently full, in satoshis per 1,000 virtual bytes; 0 otherwise. */
  rollingFeeRatePerKb(): bigint;
}

/** Transactions sent by callers of this node that no peer has requested yet. They are announced again. */
export interface UnbroadcastSource {
  readonly unbroadcastCount: number;
  /** Keys (see `RelaySource`) of the local transactions that no peer has requested, sorted from the earliest. */
  unbroadcastKeys(): readonly string[];
  /** Called when a peer requested and received the transaction. */
  noteRequested(key: string): void;
}

/** Interface for adding transactions to the mempool. */
export interface MempoolGate {
  /**
   * Adds a transaction if it passes all checks. The promise rejects only for failures of the environment, such as a disk
   * error.
   */
  acceptToMempool(tx: Transaction, options?: AcceptOptions): Promise<AcceptVerdict>;
  /** Adds a fee delta to a transaction. The transaction need not be in the mempool yet. */
  prioritise(txid: Bytes, deltaSat: bigint): void;
  /** Announces a mempool transaction again until a peer requests it. */
  keepAnnouncing(txid: Bytes): void;
}

/** Candidate transaction for a block. Each call returns the same object as long as the transaction is in the mempool. */
export interface BlockCandidate {
  /** Txid and wtxid in wire order, one character per byte. */
  readonly key: string;
  readonly wtxKey: string;
  readonly txid: Bytes;
  readonly wtxid: Bytes;
  /** Transaction serialized with witness. The buffer must not be modified. */
  readonly bytes: Buffer;
  /** Unconfirmed transactions whose outputs this transaction spends, without duplicates. */
  readonly parents: readonly BlockCandidate[];
  readonly feeSat: bigint;
  /** Fee including the delta of `prioritisetransaction`. */
  readonly modifiedFeeSat: bigint;
  /** Virtual size with which the mempool computes fee rates (`virtualSize`). */
  readonly sizeBytes: number;
  readonly sigopsCost: number;
  readonly weight: number;
}

/** Limits for the block to assemble. */
export interface BlockLimits {
  readonly height: number;
  /** Time at which transactions must be final, in seconds: the median time past of the block's parent. */
  readonly lockTimeCutoffSec: number;
  readonly includeWitness: boolean;
  readonly maxWeight: number;
  readonly maxSigopsCost: number;
  /** Minimum fee rate of a package; packages with a lower rate are omitted. */
  readonly minFeeRatePerKb: bigint;
}

export interface BlockSource {
  /** Number that is incremented when a transaction is added or removed, or a fee delta is changed. */
  readonly changeCount: number;
  /** Sorts new transactions and yields to the event loop in between, so that a later `selectForBlock` takes less time. */
  prepareForBlock(): Promise<void>;
  /** Selects the best transactions within the limits, each after those that it spends. The work is done in slices. */
  selectForBlock(limits: BlockLimits): Promise<readonly BlockCandidate[]>;
}
