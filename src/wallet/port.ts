/**
 * The interface between wallets and the node. It has interfaces only; the composition root implements them. Events are
 * delivered synchronously and in order: each connected and disconnected block, and each added and removed mempool
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
  /** The clock that wallets use, in seconds since 1970. Tests can stop it. */
  nowSec(): number;
  /** Subscribes to events of chain and mempool; the returned function unsubscribes. Listeners must not throw. */
  listen(listener: NodeListener): () => void;
  /** Data could not be written: the program must report it and stop. */
  onFatal(error: unknown): void;
  /** Warns the operator and writes to the log. */
  warn(message: string): void;
  /** Shows a status to callers while the node starts; later it has no effect. */
  readonly showStart: (status: string) => void;
}

/** A block as passed to wallets. */
export interface WalletBlock {
  readonly height: number;
  /** Wire order. */
  readonly hash: Bytes;
  readonly timeSec: number;
  readonly raw: Buffer;
  readonly parsed: ParsedBlock;
}

export interface NodeListener {
  /** The block was connected and is the tip. */
  blockConnected(block: WalletBlock): void;
  /** The block, which was the tip, was disconnected. */
  blockDisconnected(block: { readonly height: number; readonly hash: Bytes }): void;
  /** Called after a series of chain changes. */
  tipChanged(): void;
  transactionAdded(txid: Bytes, bytes: Buffer): void;
  /** The transaction was dropped or replaced, or is in a block (`inBlock`). */
  transactionRemoved(txid: Bytes, inBlock: boolean): void;
}

/** Transactions that are not reported where they are known to be; see `chain/blocks/paymentScan.ts`. */
export interface SettledPayments {
  readonly ids: Uint8Array;
  readonly idSlots: Int32Array;
  readonly blockOf: Uint32Array;
  readonly blocks: Uint8Array;
  readonly places: Int32Array;
  readonly kinds: Uint8Array;
}

/** Search terms for blocks: words of two `PrefixFilter`s. */
export interface SoughtPayments {
  /** Ids of keys and scripts. */
  readonly scripts: Uint32Array;
  /** Ids of transactions, in wire order. */
  readonly txids: Uint32Array;
  /** Null for none. */
  readonly settled: SettledPayments | null;
  /** Buffer for the blocks, as many as fit. Do not reuse it until the result has been processed. */
  readonly memory: Buffer;
}

/** Transactions of blocks that may pay to the scripts, are known, or may spend outputs of known ones; numbered in chain order. */
export interface FoundPayments {
  /** Number of searched blocks: those before the first one that needs a full scan. */
  readonly blockCount: number;
  readonly count: number;
  /** The hash of a block by its index in the request, wire order. */
  hash(block: number): Bytes;
  /** The index of the block with a transaction, and its position in the block. */
  block(found: number): number;
  index(found: number): number;
  hasWitness(found: number): boolean;
  /** The id of a transaction in wire order, latin1. */
  txKey(found: number): string;
  /** Its serialization with witness, a view. */
  txBytes(found: number): Buffer;
}

/** A transaction output as the chain has it. */
export interface PortCoin {
  readonly valueSat: bigint;
  readonly script: Bytes;
  /** −1 for an output in the mempool. */
  readonly height: number;
  readonly isCoinbase: boolean;
}

/** The active chain. For heights above the tip and unknown hashes, methods return null or −1. */
export interface ChainPort {
  /** −1 if there is no genesis block yet. */
  readonly height: number;
  /** Height of a block; −1 if it is not in the active chain. */
  heightOf(hash: Bytes): number;
  /** Whether the header of the block is known, on any branch. */
  isKnown(hash: Bytes): boolean;
  hashAt(height: number): Bytes | null;
  timeSecAt(height: number): number;
  /** The lowest height whose block is not older than this time; −1 for none. Source: `CChain::FindEarliestAtLeast`. */
  firstFrom(timeSec: number): number;
  /** Median time past of the block at this height. */
  medianTimeSecAt(height: number): number;
  /** Whether the block's data is still on disk. */
  hasBlock(height: number): boolean;
  /** Height of the snapshot while blocks below it are missing; -1 for none. */
  readonly snapshotHeight: number;
  /** Rejects if the block is not on disk, or was disconnected during the read. */
  readBlock(height: number): Promise<WalletBlock>;
  /**
   * Searches the first of the blocks at these ascending heights, and the following ones on disk that are read with it.
   * Rejects if the first is not on disk, or was disconnected during the read.
   */
  scanPayments(heights: readonly number[], sought: SoughtPayments): Promise<FoundPayments>;
  isInitialDownload(): boolean;
  /**
   * Resolves when a running reorg is complete and the mempool matches the new tip; null if there is none.
   */
  reorganised(): Promise<void> | null;
  /** An unspent output at the tip or in the mempool, by its outpoint of 36 bytes; null for a spent one. */
  coin(outPoint: Bytes): Promise<PortCoin | null>;
  /**
   * Heights from `first` to `last` of blocks that touch one of the scripts, ascending, from the address index; null if the
   * index is off or not in sync.
   */
  blocksTouching(scripts: readonly Bytes[], first: number, last: number): Promise<number[] | null>;
}

export interface MempoolPort {
  has(txid: Bytes): boolean;
  /** Numbers of ancestors and descendants in the mempool, including the transaction itself; null if it is not in the mempool. */
  relatives(txid: Bytes): { readonly ancestors: number; readonly descendants: number } | null;
  /** Unconfirmed ancestors of a transaction; empty if it is not in the mempool. */
  ancestors(txid: Bytes): readonly Bytes[];
  transaction(txid: Bytes): Transaction | null;
  /** All transactions, the earliest first, serialized with witness. The caller must not change them. */
  all(): Iterable<{ readonly txid: Bytes; readonly bytes: Buffer }>;
  /** Whether the chain limits (`-limitancestorcount` and the like) allow a transaction with these parents. */
  readonly limits: { readonly ancestors: number; readonly descendants: number };
  /**
   * Adds a transaction to the mempool, which announces it to peers. Returns null, or the error text of the reference's
   * `sendrawtransaction`. `maxFeeSat` 0 means no limit.
   */
  submit(tx: Transaction, maxFeeSat: bigint): Promise<string | null>;
  /** The same without adding it. */
  test(tx: Transaction, maxFeeSat: bigint): Promise<string | null>;
  /** Announces it to peers until one requests it. */
  announce(txid: Bytes): void;
  /** Whether it, or an ancestor, signals that it may be replaced (BIP125). */
  isReplaceable(txid: Bytes): boolean;
}

/** Rates in satoshis per 1,000 virtual bytes. */
export interface FeePort {
  /** The rate is 0 without enough data; `blocks` is the target for which the result is valid. */
  estimateSmart(
    targetBlocks: number,
    conservative: boolean,
  ): { readonly ratePerKb: bigint; readonly blocks: number };
  /** The highest target with estimates. */
  readonly highestTarget: number;
  /** The present minimum rate of the mempool, and the minimum rate for relay (`-minrelaytxfee`). */
  readonly mempoolMinRatePerKb: bigint;
  readonly relayMinRatePerKb: bigint;
  /** Minimum increase of the fee of a replacement (`-incrementalrelayfee`). */
  readonly incrementalRatePerKb: bigint;
  /** Rate for the dust limit of outputs (`-dustrelayfee`). */
  readonly dustRatePerKb: bigint;
}

/** State in the claim trie at the tip of a claim or support, by its outpoint (36 bytes). */
export interface ClaimStanding {
  readonly isInTrie: boolean;
  readonly isControlling: boolean;
  readonly isInQueue: boolean;
  /** Height at which it is valid; −1 if it is not in the trie. */
  readonly validAtHeight: number;
  readonly effectiveAmountSat: bigint;
}

export interface ClaimPort {
  /** State of claims or supports under the name in their script; null if not in the trie. */
  standing(name: Bytes, outPoint: Bytes): Promise<ClaimStanding | null>;
  /** Height at which a claim or support created at height `madeAt` expires. */
  expirationHeight(madeAt: number): number;
  /** The name of a claim that is live at the tip, by its id of 20 bytes. */
  nameOf(claimId: Bytes): Promise<Bytes | null>;
}
