/**
 * What others may ask of the mempool: its figures, its transactions, the outputs it makes and spends, transactions for a
 * block, and to let a transaction in. Interfaces only; `mempool.ts` fills them.
 */
import type { Transaction } from '../primitives/transaction.js';
import type { Bytes } from '../util/bytes.js';
import type { Slices } from '../util/slices.js';
import type { AcceptOptions, AcceptVerdict } from './acceptance.js';

/** A transaction in the mempool. Counts, sizes and fees of relatives include the transaction itself. */
export interface MempoolEntry {
  readonly txid: Bytes;
  readonly wtxid: Bytes;
  /** BIP141 virtual size. */
  readonly sizeBytes: number;
  readonly weight: number;
  readonly feeSat: bigint;
  /** Fee with what `prioritisetransaction` added. */
  readonly modifiedFeeSat: bigint;
  readonly entryTimeSec: number;
  /** Height of the chain when it came. */
  readonly entryHeight: number;
  readonly descendantCount: number;
  readonly descendantSizeBytes: number;
  readonly descendantFeesSat: bigint;
  readonly ancestorCount: number;
  readonly ancestorSizeBytes: number;
  readonly ancestorFeesSat: bigint;
  /** Unconfirmed transactions that it spends, each once. */
  readonly parents: readonly Bytes[];
  /** Unconfirmed transactions that spend it, each once. */
  readonly children: readonly Bytes[];
}

export interface MempoolReader {
  readonly size: number;
  /** Sum of virtual sizes. */
  readonly totalSizeBytes: number;
  readonly totalFeeSat: bigint;
  /** Memory in use and its bound (`-maxmempool`). */
  readonly usageBytes: number;
  readonly maxUsageBytes: number;
  /** Satoshis per 1,000 virtual bytes that a transaction must pay to be relayed at all, and to get in now. */
  readonly minRelayFeeRatePerKb: bigint;
  readonly minFeeRatePerKb: bigint;
  /** Grows with every transaction that comes or goes (Core's `GetTransactionsUpdated`). */
  readonly changeCount: number;
  /** Transactions sent by our own callers that no peer has asked for. */
  readonly unbroadcastCount: number;
  /** Whether what the last run left on disk has been read. */
  readonly isLoaded: boolean;
  /** Ids in mining order, ancestors first. */
  txidsInSlices(): Slices<readonly Bytes[]>;
  entry(txid: Bytes): MempoolEntry | null;
  transaction(txid: Bytes): Transaction | null;
  /** All unconfirmed ancestors or descendants of a transaction in the mempool, itself left out. */
  ancestors(txid: Bytes): readonly MempoolEntry[];
  descendants(txid: Bytes): readonly MempoolEntry[];
  /** An output made in the mempool; `outPoint` has 36 bytes. */
  output(outPoint: Bytes): { amountSat: bigint; script: Bytes } | null;
  isSpent(outPoint: Bytes): boolean;
  /** Id of the transaction in the mempool that spends the output, or null. */
  spender(outPoint: Bytes): Bytes | null;
  /** Writes `mempool.dat`. Rejects when the disk refuses. */
  save(): Promise<void>;
}

/** A transaction as relay code sees it. */
export interface RelayEntry {
  /** Id in wire order, a byte a character. */
  readonly key: string;
  readonly wtxid: Bytes;
  /** Serialized with witness; not to be changed. */
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

/** What relaying asks of the mempool, often: ids are keys, 32 bytes in wire order, a byte a character. */
export interface RelaySource {
  /** Grows with every transaction that comes or goes. */
  readonly changeCount: number;
  hasKey(key: string): boolean;
  relayEntry(key: string): RelayEntry | null;
  /** All, in mining order. */
  relayEntries(): Slices<readonly RelayEntry[]>;
  /** All in the order in which they came; may be walked while they come and go. */
  transactions(): Iterable<RelayEntry>;
  /** Satoshis per 1,000 virtual bytes that a mempool recently full asks for; 0 when it was not. */
  rollingFeeRatePerKb(): bigint;
}

/** Transactions of our own callers that no peer has asked for, for rebroadcasts. */
export interface UnbroadcastSource {
  readonly unbroadcastCount: number;
  /** Keys as in `RelaySource`, the earliest first. */
  unbroadcastKeys(): readonly string[];
  /** A peer asked for it and got it. */
  noteRequested(key: string): void;
}

/** Letting transactions in. */
export interface MempoolGate {
  /** Lets a transaction in unless something speaks against it. Rejects only when the environment fails. */
  acceptToMempool(tx: Transaction, options?: AcceptOptions): Promise<AcceptVerdict>;
  /** Makes a transaction, here or to come, count as if it paid this much more. */
  prioritise(txid: Bytes, deltaSat: bigint): void;
  /** Has a transaction of the mempool announced again until a peer asks for it. */
  keepAnnouncing(txid: Bytes): void;
}

/** A transaction chosen for a block; the same object as long as it is in the mempool. */
export interface BlockCandidate {
  /** Ids without and with witness in wire order, a byte a character. */
  readonly key: string;
  readonly wtxKey: string;
  readonly txid: Bytes;
  readonly wtxid: Bytes;
  /** Serialized with witness; not to be changed. */
  readonly bytes: Buffer;
  /** Unconfirmed transactions that it spends, each once. */
  readonly parents: readonly BlockCandidate[];
  readonly feeSat: bigint;
  /** Fee with what `prioritisetransaction` added. */
  readonly modifiedFeeSat: bigint;
  /** Virtual size as the mempool counts it. */
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
  /** Packages that pay less are left out. */
  readonly minFeeRatePerKb: bigint;
}

export interface BlockSource {
  /** Grows with every transaction that comes or goes, or is promised another fee. */
  readonly changeCount: number;
  /** Sorts what is new, in slices: `selectForBlock` soon after has less to do. */
  prepareForBlock(): Promise<void>;
  /** The best transactions within the limits, each after those that it spends; chosen in slices. */
  selectForBlock(limits: BlockLimits): Promise<readonly BlockCandidate[]>;
}
