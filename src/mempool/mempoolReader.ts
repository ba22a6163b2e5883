/**
 * The mempool as other components see it: its figures, its transactions, the outputs it creates and spends, transactions for
 * a block, and acceptance. Interfaces only; `mempool.ts` implements them.
 */
import type { Transaction } from '../primitives/transaction.js';
import type { Bytes } from '../util/bytes.js';
import type { Slices } from '../util/slices.js';
import type { AcceptOptions, AcceptVerdict } from './acceptance.js';

/** A transaction in the mempool. Counts, sizes and fees of ancestors and descendants include the transaction itself. */
export interface MempoolEntry {
  readonly txid: Bytes;
  readonly wtxid: Bytes;
  /** BIP141 virtual size. */
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
  /** Unconfirmed transactions that it spends, without duplicates. */
  readonly parents: readonly Bytes[];
  /** Unconfirmed transactions that spend it, without duplicates. */
  readonly children: readonly Bytes[];
}

export interface MempoolReader {
  readonly size: number;
  /** Sum of virtual sizes. */
  readonly totalSizeBytes: number;
  readonly totalFeeSat: bigint;
  /** Memory in use and its limit (`-maxmempool`). */
  readonly usageBytes: number;
  readonly maxUsageBytes: number;
  /** Minimum fee rates in satoshis per 1,000 virtual bytes: for relay, and for acceptance at present. */
  readonly minRelayFeeRatePerKb: bigint;
  readonly minFeeRatePerKb: bigint;
  /** Incremented with every transaction added or removed (Core's `GetTransactionsUpdated`). */
  readonly changeCount: number;
  /** Transactions sent by our own callers that no peer has requested. */
  readonly unbroadcastCount: number;
  /** Whether the files of the last run have been read. */
  readonly isLoaded: boolean;
  /** Txids in mining order, ancestors first. */
  txidsInSlices(): Slices<readonly Bytes[]>;
  entry(txid: Bytes): MempoolEntry | null;
  transaction(txid: Bytes): Transaction | null;
  /** All unconfirmed ancestors or descendants of a mempool transaction, without itself. */
  ancestors(txid: Bytes): readonly MempoolEntry[];
  descendants(txid: Bytes): readonly MempoolEntry[];
  /** An output created in the mempool; `outPoint` has 36 bytes. */
  output(outPoint: Bytes): { amountSat: bigint; script: Bytes } | null;
  isSpent(outPoint: Bytes): boolean;
  /** Id of the transaction in the mempool that spends the output, or null. */
  spender(outPoint: Bytes): Bytes | null;
  /** Writes `mempool.dat`. Rejects when the disk fails. */
  save(): Promise<void>;
}

/** A transaction as relay code sees it. */
export interface RelayEntry {
  /** Txid in wire order, one character per byte. */
  readonly key: string;
  readonly wtxid: Bytes;
  /** Serialized with witness; must not be modified. */
  readonly bytes: Buffer;
  readonly hasWitness: boolean;
  /** BIP141 virtual size. */
  readonly sizeBytes: number;
  readonly feeSat: bigint;
  /** When it came. */
  readonly timeSec: number;
  /** Itself included. */
  readonly ancestorCount: number;
}

/** Mempool queries of the relay code, which are frequent: txids are keys, 32 bytes in wire order, one character per byte. */
export interface RelaySource {
  /** Incremented with every transaction added or removed. */
  readonly changeCount: number;
  hasKey(key: string): boolean;
  relayEntry(key: string): RelayEntry | null;
  /** All transactions, in mining order. */
  relayEntries(): Slices<readonly RelayEntry[]>;
  /** All transactions in order of arrival; the iteration tolerates additions and removals. */
  transactions(): Iterable<RelayEntry>;
  /** Minimum fee rate of a mempool that was recently full, in satoshis per 1,000 virtual bytes; else 0. */
  rollingFeeRatePerKb(): bigint;
}

/** Transactions of our own callers that no peer has requested, for rebroadcasts. */
export interface UnbroadcastSource {
  readonly unbroadcastCount: number;
  /** Keys as in `RelaySource`, the earliest first. */
  unbroadcastKeys(): readonly string[];
  /** Called when a peer requested the transaction and received it. */
  noteRequested(key: string): void;
}

/** Letting transactions in. */
export interface MempoolGate {
  /** Adds a transaction if it passes all checks. Rejects only when the environment fails. */
  acceptToMempool(tx: Transaction, options?: AcceptOptions): Promise<AcceptVerdict>;
  /** Adds a fee delta to a transaction, present or future. */
  prioritise(txid: Bytes, deltaSat: bigint): void;
  /** Announces a mempool transaction again until a peer requests it. */
  keepAnnouncing(txid: Bytes): void;
}

/** A candidate for a block; the same object as long as the transaction is in the mempool. */
export interface BlockCandidate {
  /** Txid and wtxid in wire order, one character per byte. */
  readonly key: string;
  readonly wtxKey: string;
  readonly txid: Bytes;
  readonly wtxid: Bytes;
  /** Serialized with witness; must not be modified. */
  readonly bytes: Buffer;
  /** Unconfirmed transactions that it spends, without duplicates. */
  readonly parents: readonly BlockCandidate[];
  readonly feeSat: bigint;
  /** Fee including the delta of `prioritisetransaction`. */
  readonly modifiedFeeSat: bigint;
  /** Virtual size as computed by the mempool. */
  readonly sizeBytes: number;
  readonly sigopsCost: number;
  readonly weight: number;
}

/** Limits of a block. */
export interface BlockLimits {
  readonly height: number;
  /** Transactions must be final by this time (median time past of the parent). */
  readonly lockTimeCutoffSec: number;
  readonly includeWitness: boolean;
  readonly maxWeight: number;
  readonly maxSigopsCost: number;
  /** Packages with a lower fee rate are left out. */
  readonly minFeeRatePerKb: bigint;
}

export interface BlockSource {
  /** Incremented with every transaction added or removed, and with every change of a fee delta. */
  readonly changeCount: number;
  /** Sorts new transactions, in slices, so that a following `selectForBlock` has less to do. */
  prepareForBlock(): Promise<void>;
  /** The best transactions within the limits, each after those that it spends; chosen in slices. */
  selectForBlock(limits: BlockLimits): Promise<readonly BlockCandidate[]>;
}
