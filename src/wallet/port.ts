/**
 * The interface between wallets and the node. This file contains only types; the code that starts the node implements them.
 * Events are delivered synchronously and in order: each connected and disconnected block, and each added and removed mempool
 * transaction. No call holds a lock of the node, so the node may be another process. Source: Core's `interfaces::Chain`.
 */
import type { NetworkParams } from '../params/network.js';
import type { ParsedBlock } from '../primitives/blockView.js';
import type { Transaction } from '../primitives/transaction.js';
import type { Bytes } from '../util/bytes.js';
import type { Logger } from '../util/logging.js';

export interface NodePort {
  readonly params: NetworkParams;
  readonly chain: ChainPort;
  readonly mempool: MempoolPort;
  readonly fees: FeePort;
  readonly claims: ClaimPort;
  readonly log: Logger;
  /** Current time of the node's clock in seconds since 1970. Tests can set the clock. */
  nowSec(): number;
  /**
   * Adds a listener for events of the chain and the mempool. Returns a function that removes the listener. Listeners must
   * not throw.
   */
  listen(listener: NodeListener): () => void;
  /** Called when data could not be written to disk. The program must report the error and stop. */
  onFatal(error: unknown): void;
  /** Warns the operator, and logs the warning. */
  warn(message: string): void;
  /** Shows a status to RPC callers while the node starts. Has no effect later. */
  readonly showStart: (status: string) => void;
}

/** Data of a block that wallets process. */
export interface WalletBlock {
  readonly height: number;
  /** Wire order. */
  readonly hash: Bytes;
  readonly timeSec: number;
  readonly raw: Buffer;
  readonly parsed: ParsedBlock;
}

export interface NodeListener {
  /** Called when a block was connected and is the tip. */
  blockConnected(block: WalletBlock): void;
  /** Called when a block was disconnected, which was the tip before. */
  blockDisconnected(block: { readonly height: number; readonly hash: Bytes }): void;
  /** Called after a series of connected and disconnected blocks, when the tip has changed. */
  tipChanged(): void;
  transactionAdded(txid: Bytes, bytes: Buffer): void;
  /** Called when a transaction has left the mempool: it was dropped or replaced, or is in a block (`inBlock`). */
  transactionRemoved(txid: Bytes, inBlock: boolean): void;
}

/**
 * Known transactions. A block scan does not report such a transaction if it finds it in the known block and position
 * (`chain/blocks/paymentScan.ts`).
 */
export interface SettledPayments {
  readonly ids: Uint8Array;
  readonly idSlots: Int32Array;
  readonly blockOf: Uint32Array;
  readonly blocks: Uint8Array;
  readonly places: Int32Array;
  readonly kinds: Uint8Array;
}

/** Search terms of a block scan: the words of two `PrefixFilter`s. */
export interface SoughtPayments {
  /** Filter with the ids of keys and scripts. */
  readonly scripts: Uint32Array;
  /** Filter with the ids of transactions, in wire order. */
  readonly txids: Uint32Array;
  /** Transactions that the scan does not report when it finds them in their known block; null if there are none. */
  readonly settled: SettledPayments | null;
  /** Buffer into which blocks are read, as many as fit. It must not be reused until the result has been processed. */
  readonly memory: Buffer;
}

/**
 * Result of a block scan: transactions that may pay to the scripts, are known, or may spend outputs of known transactions.
 * They are numbered in chain order.
 */
export interface FoundPayments {
  /** Number of searched blocks. The search ends before the first block that needs a full scan. */
  readonly blockCount: number;
  readonly count: number;
  /** Hash in wire order of block number `block` of the request. */
  hash(block: number): Bytes;
  /**
   * `block`: number, within the request, of the block that contains the transaction. `index`: position of the transaction in
   * its block.
   */
  block(found: number): number;
  index(found: number): number;
  hasWitness(found: number): boolean;
  /** Transaction id in wire order, as latin1. */
  txKey(found: number): string;
  /** The serialized transaction with witness, as a view. */
  txBytes(found: number): Buffer;
}

/** An unspent output with the data that the node has about it. */
export interface PortCoin {
  readonly valueSat: bigint;
  readonly script: Bytes;
  /** Height of the block that created the output; −1 for an output of a mempool transaction. */
  readonly height: number;
  readonly isCoinbase: boolean;
}

/** Access to the active chain. For a height above the tip or an unknown hash, methods return null or −1. */
export interface ChainPort {
  /** Height of the tip; −1 if even the genesis block is missing. */
  readonly height: number;
  /** Height of a block; −1 if it is not in the active chain. */
  heightOf(hash: Bytes): number;
  /** Whether the header of a block is known, on any branch. */
  isKnown(hash: Bytes): boolean;
  hashAt(height: number): Bytes | null;
  timeSecAt(height: number): number;
  /** The lowest height whose block is not older than this time; −1 if there is none. Source: `CChain::FindEarliestAtLeast`. */
  firstFrom(timeSec: number): number;
  /** Median time past of the block at this height. */
  medianTimeSecAt(height: number): number;
  /** Whether the data of the block at this height is still on disk. */
  hasBlock(height: number): boolean;
  /** Height of the UTXO snapshot while blocks below it are missing; -1 if none are missing. */
  readonly snapshotHeight: number;
  /** Reads a block from disk. Rejects if the block is not on disk, or was disconnected during the read. */
  readBlock(height: number): Promise<WalletBlock>;
  /**
   * Searches blocks for payments. `heights` are ascending. Searches the first block and as many of the following blocks as
   * are read with it in one call. Rejects if the first block is not on disk, or was disconnected during the read.
   */
  scanPayments(heights: readonly number[], sought: SoughtPayments): Promise<FoundPayments>;
  isInitialDownload(): boolean;
  /**
   * Resolves when the running reorg is complete and the mempool matches the new tip; null if no reorg is running.
   */
  reorganised(): Promise<void> | null;
  /** An unspent output at the tip or in the mempool, by its outpoint of 36 bytes; null if it is spent or unknown. */
  coin(outPoint: Bytes): Promise<PortCoin | null>;
  /**
   * Heights between `first` and `last` of the blocks that pay to or spend from one of the scripts, in ascending order, from
   * the address index. Null if the index is off or not in sync.
   */
  blocksTouching(scripts: readonly Bytes[], first: number, last: number): Promise<number[] | null>;
}

export interface MempoolPort {
  has(txid: Bytes): boolean;
  /**
   * Number of mempool ancestors and of mempool descendants. Each number includes the transaction itself. Null if the
   * transaction is not in the mempool.
   */
  relatives(txid: Bytes): { readonly ancestors: number; readonly descendants: number } | null;
  /** Ids of the unconfirmed ancestors of a transaction; empty if it is not in the mempool. */
  ancestors(txid: Bytes): readonly Bytes[];
  transaction(txid: Bytes): Transaction | null;
  /**
   * All mempool transactions, sorted by arrival from the earliest, serialized with witness. The caller must not change the
   * bytes.
   */
  all(): Iterable<{ readonly txid: Bytes; readonly bytes: Buffer }>;
  /** Limits of unconfirmed ancestors and descendants (`-limitancestorcount` and the like). */
  readonly limits: { readonly ancestors: number; readonly descendants: number };
  /**
   * Adds a transaction to the mempool and announces it to peers. Returns null, or the error text of the reference's
   * `sendrawtransaction`. If `maxFeeSat` is 0, the fee is not limited.
   */
  submit(tx: Transaction, maxFeeSat: bigint): Promise<string | null>;
  /** Like `submit`, but only checks the transaction without adding it. */
  test(tx: Transaction, maxFeeSat: bigint): Promise<string | null>;
  /** Announces a mempool transaction to peers until a peer requests it. */
  announce(txid: Bytes): void;
  /** Whether a mempool transaction, or one of its ancestors, signals that it may be replaced (BIP125). */
  isReplaceable(txid: Bytes): boolean;
}

/** Fee rates of the node, in satoshis per 1,000 virtual bytes. */
export interface FeePort {
  /** Estimates a fee rate; 0 if the data is insufficient. `blocks` is the confirmation target for which the result is valid. */
  estimateSmart(
    targetBlocks: number,
    conservative: boolean,
  ): { readonly ratePerKb: bigint; readonly blocks: number };
  /** The highest confirmation target for which estimates exist. */
  readonly highestTarget: number;
  /**
   * `mempoolMinRatePerKb`: the current minimum rate of the mempool. `relayMinRatePerKb`: the minimum rate for relay
   * (`-minrelaytxfee`).
   */
  readonly mempoolMinRatePerKb: bigint;
  readonly relayMinRatePerKb: bigint;
  /** Minimum rate by which a replacement must increase the fee (`-incrementalrelayfee`). */
  readonly incrementalRatePerKb: bigint;
  /** Rate from which the dust limit of outputs is computed (`-dustrelayfee`). */
  readonly dustRatePerKb: bigint;
}

/** State of a claim or support in the claim trie at the tip. */
export interface ClaimStanding {
  readonly isInTrie: boolean;
  readonly isControlling: boolean;
  readonly isInQueue: boolean;
  /** Height at which the claim or support is or becomes active; −1 if it is not in the trie. */
  readonly validAtHeight: number;
  readonly effectiveAmountSat: bigint;
}

export interface ClaimPort {
  /**
   * State of a claim or support, searched by its outpoint (36 bytes) under the name in its script. Null if it is not in the
   * trie.
   */
  standing(name: Bytes, outPoint: Bytes): Promise<ClaimStanding | null>;
  /** Height at which a claim or support that was created at height `madeAt` expires. */
  expirationHeight(madeAt: number): number;
  /** The name of a claim that is in the trie at the tip, by its claim id of 20 bytes. */
  nameOf(claimId: Bytes): Promise<Bytes | null>;
}
