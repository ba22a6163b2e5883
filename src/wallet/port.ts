/**
 * All that wallets know of the node and ask of it. Interfaces only; the composition root fills them. Events of the node come
 * synchronously and in order: blocks one by one, transactions of the mempool as they come and go. Nothing here holds a lock
 * of the node, so that the other side may be another process. Source: Core's `interfaces::Chain`.
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
  /** The clock that wallets go by, which tests can stop; seconds since 1970. */
  nowSec(): number;
  /** Notified of chain and mempool from here on; the returned function ends it. Listeners must not throw. */
  listen(listener: NodeListener): () => void;
  /** What was to be kept could not be written: the program must stop and say so. */
  onFatal(error: unknown): void;
  /** Warns the operator and writes to the log. */
  warn(message: string): void;
  /** Status for callers while the node starts; later no one. */
  readonly showStart: (status: string) => void;
}

/** A block as it is handed to wallets. */
export interface WalletBlock {
  readonly height: number;
  /** Wire order. */
  readonly hash: Bytes;
  readonly timeSec: number;
  readonly raw: Buffer;
  readonly parsed: ParsedBlock;
}

export interface NodeListener {
  /** A block is part of the active chain, which ends in it. */
  blockConnected(block: WalletBlock): void;
  /** The last block of the active chain is not part of it any more. */
  blockDisconnected(block: { readonly height: number; readonly hash: Bytes }): void;
  /** Once the chain stands still after changes. */
  tipChanged(): void;
  transactionAdded(txid: Bytes, bytes: Buffer): void;
  /** It was dropped, replaced, or is in a block (`inBlock`). */
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

/** What is searched in blocks: words of two `PrefixFilter`s. */
export interface SoughtPayments {
  /** Ids of keys and scripts. */
  readonly scripts: Uint32Array;
  /** Ids of transactions, in wire order. */
  readonly txids: Uint32Array;
  /** Null for none. */
  readonly settled: SettledPayments | null;
  /** Blocks are read into it, as many as have room; not to be used for anything else until what was found is done with. */
  readonly memory: Buffer;
}

/** Transactions of blocks that may pay to scripts, are known, or may spend of known ones; numbered in the order of the chain. */
export interface FoundPayments {
  /** How many of the blocks were looked through: those before the first that needs a closer look. */
  readonly blockCount: number;
  readonly count: number;
  /** The hash of a block by its number among those that were asked for, wire order. */
  hash(block: number): Bytes;
  /** The number of the block that holds a transaction, and its place in it. */
  block(found: number): number;
  index(found: number): number;
  hasWitness(found: number): boolean;
  /** The id of a transaction in wire order, a byte a character. */
  txKey(found: number): string;
  /** Its bytes with witness, a view. */
  txBytes(found: number): Buffer;
}

/** A transaction output as the chain has it. */
export interface PortCoin {
  readonly valueSat: bigint;
  readonly script: Bytes;
  /** −1 for one in the mempool. */
  readonly height: number;
  readonly isCoinbase: boolean;
}

/** The active chain. Heights beyond it, and hashes that it does not have, answer null or −1. */
export interface ChainPort {
  /** −1 before there is a genesis block. */
  readonly height: number;
  /** Height of a block; −1 if it is not in the active chain. */
  heightOf(hash: Bytes): number;
  /** Whether headers of such a block are known at all. */
  isKnown(hash: Bytes): boolean;
  hashAt(height: number): Bytes | null;
  timeSecAt(height: number): number;
  /** The first height whose block is from this time or later; −1 for none. Source: `CChain::FindEarliestAtLeast`. */
  firstFrom(timeSec: number): number;
  /** Median time past of the block at this height. */
  medianTimeSecAt(height: number): number;
  /** Whether a block's data is on disk still. */
  hasBlock(height: number): boolean;
  /** Height of a snapshot whose blocks are not all there yet; -1 for none. */
  readonly snapshotHeight: number;
  /** Rejects where it is not on disk, or was taken back meanwhile. */
  readBlock(height: number): Promise<WalletBlock>;
  /**
   * Looks through the first of the blocks at these ascending heights and as many that follow it on disk as are read with it.
   * Rejects where the first is not on disk, or was taken back meanwhile.
   */
  scanPayments(heights: readonly number[], sought: SoughtPayments): Promise<FoundPayments>;
  isInitialDownload(): boolean;
  /**
   * Resolves when blocks that are being exchanged for others are, and the mempool belongs to the new tip; null if none are.
   */
  reorganised(): Promise<void> | null;
  /** An unspent output at the tip or in the mempool; outPoint of 36 bytes. Spent ones answer null. */
  coin(outPoint: Bytes): Promise<PortCoin | null>;
  /**
   * Heights of blocks from `first` to `last` that touch one of the scripts, ascending, from the address index; null without
   * one, or while it is being filled.
   */
  blocksTouching(scripts: readonly Bytes[], first: number, last: number): Promise<number[] | null>;
}

export interface MempoolPort {
  has(txid: Bytes): boolean;
  /** Counts of relatives in the mempool, itself counted; null for others. */
  relatives(txid: Bytes): { readonly ancestors: number; readonly descendants: number } | null;
  /** Unconfirmed transactions that the given one depends on; empty for what is not in the mempool. */
  ancestors(txid: Bytes): readonly Bytes[];
  transaction(txid: Bytes): Transaction | null;
  /** All transactions, the earliest first, serialized with witness; must not be changed. */
  all(): Iterable<{ readonly txid: Bytes; readonly bytes: Buffer }>;
  /** Whether chain limits (`-limitancestorcount` and the like) let a transaction with these parents in. */
  readonly limits: { readonly ancestors: number; readonly descendants: number };
  /**
   * Puts a transaction into the mempool, from where peers learn of it; null, or why not: the reference's text, as
   * `sendrawtransaction` tells it. `maxFeeSat` 0 for no bound.
   */
  submit(tx: Transaction, maxFeeSat: bigint): Promise<string | null>;
  /** The same without letting it in. */
  test(tx: Transaction, maxFeeSat: bigint): Promise<string | null>;
  /** Has it announced to peers until one asks for it. */
  announce(txid: Bytes): void;
  /** Whether it, or one that it depends on, says that it may be replaced (BIP125). */
  isReplaceable(txid: Bytes): boolean;
}

/** Rates in satoshis per 1,000 virtual bytes. */
export interface FeePort {
  /** Rate 0 where too little is known; `blocks` is the target that the answer holds for. */
  estimateSmart(
    targetBlocks: number,
    conservative: boolean,
  ): { readonly ratePerKb: bigint; readonly blocks: number };
  /** The highest target there are estimates for. */
  readonly highestTarget: number;
  /** What the mempool asks for now, and what is relayed at all (`-minrelaytxfee`). */
  readonly mempoolMinRatePerKb: bigint;
  readonly relayMinRatePerKb: bigint;
  /** Step in which fees of replacements grow (`-incrementalrelayfee`). */
  readonly incrementalRatePerKb: bigint;
  /** Below this, outputs are dust (`-dustrelayfee`). */
  readonly dustRatePerKb: bigint;
}

/** What the claim trie says at the tip of a claim or support by its outpoint (36 bytes). */
export interface ClaimStanding {
  readonly isInTrie: boolean;
  readonly isControlling: boolean;
  readonly isInQueue: boolean;
  /** Height at which it is valid; −1 where it is in neither. */
  readonly validAtHeight: number;
  readonly effectiveAmountSat: bigint;
}

export interface ClaimPort {
  /** State of claims or supports under the name in their script; null if not in the trie. */
  standing(name: Bytes, outPoint: Bytes): Promise<ClaimStanding | null>;
  /** Blocks after which a claim or support made at a height expires. */
  expirationHeight(madeAt: number): number;
  /** The name of a claim that is alive at the tip, by its id of 20 bytes. */
  nameOf(claimId: Bytes): Promise<Bytes | null>;
}
