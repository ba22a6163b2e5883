/**
 * The node's services for RPC methods: one narrow interface, implemented by the composition root. Each part has only the
 * functions that a group of methods needs; a method uses it as `ctx.services.<part>`. Add a part when a method needs one.
 */
import type { ChainReader } from '../chain/chainReader.js';
import type { SnapshotStatus } from '../chain/snapshot/backgroundValidation.js';
import type { DumpedSnapshot } from '../chain/snapshot/dumpSnapshot.js';
import type { ReadSnapshot } from '../chain/snapshot/readSnapshot.js';
import type { Pruner } from '../chain/blocks/pruner.js';
import type { AddressQueries } from '../index/addressQueries.js';
import type { IndexStatus } from '../index/chainIndex.js';
import type { ClaimIndexQueries } from '../index/claims/claimIndexQueries.js';
import type { WaitingFeed } from '../index/waiting/waitingFeed.js';
import type { WaitingClaimIndex } from '../index/waiting/waitingIndex.js';
import type { BlockFilters } from '../index/filterIndex.js';
import type { UnconfirmedTransaction } from '../index/mempoolAddresses.js';
import type { SpenderPlace } from '../index/spendIndex.js';
import type { TxLocation } from '../index/txIndex.js';
import type { FeeEstimates } from '../mempool/fees/feeEstimator.js';
import type { MempoolClaims } from '../mempool/mempoolClaims.js';
import type { MempoolSummary } from '../mempool/mempoolSummary.js';
import type { MempoolGate, MempoolReader } from '../mempool/mempoolReader.js';
import type { MiningService } from '../mining/miner.js';
import type { NetworkParams } from '../params/network.js';
import type { ClaimSearch } from '../search/claimSearch.js';
import type { Bytes } from '../util/bytes.js';
import type { LogControl, Logger } from '../util/logging.js';
import type { MaybePromise } from '../util/maybePromise.js';
import type { Wallets } from '../wallet/wallets.js';
import type { BlockTextCache } from './blockTexts.js';
import type { CoinScanner } from './coinScan.js';
import type { CacheUsage, ThreadUsage } from '../util/threadMemory.js';
import type { HubService } from './hubService.js';
import type { PeerService } from './peerService.js';
import type { ClaimReader } from './claimReader.js';

export interface RpcServices {
  readonly lifecycle: LifecycleService;
  readonly memory: MemoryService;
  readonly logging: LogControl;
  /** Log for details that the response omits. */
  readonly log: Logger;
  readonly params: NetworkParams;
  readonly chain: ChainReader;
  readonly claims: ClaimReader;
  /** Null without `-txindex`. */
  readonly txIndex: TransactionFinder | null;
  /** Null without `-spendindex`. */
  readonly spends: SpendFinder | null;
  /** Null without `-blockfilterindex`. */
  readonly blockFilters: Pick<BlockFilters, 'filter' | 'headers'> | null;
  /** Null without `-addressindex`. */
  readonly addresses: AddressService | null;
  /** Null without `-claimindex`. */
  readonly claimIndex: ClaimIndexQueries | null;
  /** Null without `-claimsearch`. */
  readonly claimSearch: ClaimSearch | null;
  /** Null without `-hub`, and before it is open. */
  readonly hub: HubService | null;
  /** The position of each enabled index. */
  indexes(): readonly IndexStatus[];
  /** Cached texts of block transactions; null without `-rpccache`. */
  readonly blockTexts: BlockTextCache | null;
  readonly mempool: MempoolReader;
  /** Statistics and claim operations of the mempool, updated with each change. */
  readonly waiting: {
    readonly summary: MempoolSummary;
    readonly claims: MempoolClaims;
    /** The mempool state of claims; null without `-claimindex`. */
    readonly feed: WaitingFeed | null;
  };
  /** Claims combined with their mempool state; null without `-claimindex`. */
  readonly shownClaims: WaitingClaimIndex | null;
  readonly mempoolGate: MempoolGate;
  /** What fee rates let transactions confirm in time. */
  readonly fees: FeeEstimates;
  readonly mining: MiningService;
  readonly clock: ClockService;
  /** Null unless the node prunes (`-prune`). */
  readonly pruner: Pruner | null;
  readonly network: NetworkService;
  /** Writes and checks snapshots of the chain state. */
  readonly snapshots: SnapshotService;
  /** Null when the node runs without peers. */
  readonly peers: PeerService | null;
  /** The state of `scantxoutset`: at most one scan runs at a time. */
  readonly coinScan: CoinScanner;
  readonly options: RpcNodeOptions;
  /** Null when the node runs without wallets (`-disablewallet`). */
  readonly wallets: Wallets | null;
  /** What is published by ZeroMQ, and where. */
  zmqNotifiers(): readonly { readonly type: string; readonly address: string }[];
  /** Warnings about network, chain or build, for results that contain warnings; empty if there are none. */
  warnings(): string;
}

/** Memory of the process. */
export interface MemoryService {
  /** The caches of the main thread. */
  caches(): Promise<readonly CacheUsage[]>;
  /** Heaps and caches of the worker threads. */
  threads(): Promise<readonly ThreadUsage[]>;
  /** What the C library holds; null where that is not known. */
  nativeHeap(): NativeHeapUsage | null;
}

/** In bytes: in use and free in the arenas of the C library, and in mappings of their own. */
export interface NativeHeapUsage {
  readonly usedBytes: number;
  readonly freeBytes: number;
  readonly mappedBytes: number;
}

/** Snapshots of the chain state. Paths are absolute. Rejects with `SnapshotError`. */
export interface SnapshotService {
  /** Writes a snapshot of a height, or of the tip for null, to a file that must not exist. */
  dump(path: string, height: number | null, signal: AbortSignal): Promise<DumpedSnapshot>;
  /** Reads a whole file and checks everything that can be checked without blocks. */
  verify(path: string, signal: AbortSignal): Promise<ReadSnapshot>;
  /** What the node stands on while the blocks up to it are not validated; null when it stands on its own blocks. */
  status(): SnapshotStatus | null;
  /** The absolute path of a name; relative names are resolved in the network's folder. */
  resolve(name: string): string;
}

/** Starting and stopping the node. */
export interface LifecycleService {
  /** Start time of the process, by the real clock. */
  readonly startTimeSec: number;
  /** Starts a clean stop; returns at once, so that the response can still be sent. */
  requestStop(): void;
}

/** Finds transactions of the active chain; the reader verifies the txid. */
export interface TransactionFinder {
  find(txid: Bytes): MaybePromise<TxLocation[]>;
}

/** Positions of transactions of the active chain that may have spent an output; the reader compares them with it. */
export interface SpendFinder {
  find(txid: Bytes, n: number): Promise<SpenderPlace[]>;
}

/** The address index, queried by script keys (`index/addressScripts.ts`). */
export interface AddressService extends Pick<AddressQueries, 'totals' | 'history' | 'unspent'> {
  /** The mempool transactions that touch one of the scripts, in order, from arrival number `first` on. */
  mempoolTransactions(scriptKeys: readonly string[], first?: number): readonly UnconfirmedTransaction[];
  /** Mempool transactions of one script by id (latin1), in order; see `MempoolAddresses.ofScript`. */
  ofMempool(scriptKey: string): ReadonlyMap<string, number>;
  /**
   * Registers a listener for changes in the mempool. It receives the scripts touched by a transaction that was added or
   * removed, or whose number of unconfirmed ancestors changed. The returned function removes it. The listener must not
   * throw.
   */
  onMempool(listener: (scriptKeys: readonly string[]) => void): () => void;
}

/** The clock used by validation and mining. */
export interface ClockService {
  /** The clock, or the mocked time, in seconds since 1970. */
  nowSec(): number;
  /** Network time: the clock, or the mocked time, adjusted by the peers. */
  adjustedTimeSec(): number;
  /** Sets a fixed time; 0 returns to the system's clock. */
  setMockTime(timeSec: number): void;
}

/** The node among its peers, for `getnetworkinfo` and `getinfo`. The peer network implements it. */
export interface NetworkService {
  /** The node's version as one number (Core's `CLIENT_VERSION`). */
  readonly version: number;
  /** The user agent: `/lbcnode:0.1.0/`. */
  readonly userAgent: string;
  readonly protocolVersion: number;
  /** Whether transactions are requested from peers. */
  readonly relaysTransactions: boolean;
  /** Whether there is a peer network and it is enabled. */
  isActive(): boolean;
  /** The services offered to peers, as the bits of Core's `ServiceFlags`. */
  localServices(): bigint;
  connectionCount(): number;
  /** Offset of the peers' clocks from ours, in seconds. */
  timeOffsetSec(): number;
  /** `ipv4`, `ipv6` and `onion`, in this order. */
  networks(): readonly ReachableNetwork[];
  /** Our own known addresses. */
  localAddresses(): readonly LocalAddress[];
}

/** A network of peers with its proxy. */
export interface ReachableNetwork {
  readonly name: string;
  /** Whether options disable it (`-onlynet`). */
  readonly limited: boolean;
  readonly reachable: boolean;
  /** `host:port`, empty without a proxy. */
  readonly proxy: string;
  /** Whether each connection through the proxy uses separate credentials (`-proxyrandomize`). */
  readonly randomizesProxyCredentials: boolean;
}

/** An address at which peers may reach us; the score increases with the number of peers that confirmed it. */
export interface LocalAddress {
  readonly address: string;
  readonly port: number;
  readonly score: number;
}

/** The options that affect results. */
export interface RpcNodeOptions {
  /** Maximum fee of a transaction sent by callers (`-maxtxfee`). */
  readonly maxTxFeeSat: bigint;
  /** Fee rate increment for replacement and a full mempool (`-incrementalrelayfee`). */
  readonly incrementalFeeRatePerKb: bigint;
  /** Whether raw blocks and transactions are shown with witness (`-rpcserialversion=1`). */
  readonly serializeWitness: boolean;
  /** Whether decoded claim values are included in results (`-claimmetadata`). */
  readonly claimMetadata: boolean;
  /** Defaults of `verifychain` (`-checklevel`, `-checkblocks`). */
  readonly checkLevel: number;
  readonly checkBlocks: number;
}
