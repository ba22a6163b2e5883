/**
 * The node's services for RPC methods: a narrow interface that the node's start code implements. Each member has only the
 * functions that a group of methods needs; a method uses it as `ctx.services.<member>`. If a method needs another function,
 * a member is added.
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
  /** The transaction index; null without `-txindex`. */
  readonly txIndex: TransactionFinder | null;
  /** The index of spent outputs; null without `-spendindex`. */
  readonly spends: SpendFinder | null;
  /** Index of compact block filters; null without `-blockfilterindex`. */
  readonly blockFilters: Pick<BlockFilters, 'filter' | 'headers'> | null;
  /** The address index; null without `-addressindex`. */
  readonly addresses: AddressService | null;
  /** The claim index; null without `-claimindex`. */
  readonly claimIndex: ClaimIndexQueries | null;
  /** The claim search; null without `-claimsearch`. */
  readonly claimSearch: ClaimSearch | null;
  /** The hub; null without `-hub`, or before the hub is opened. */
  readonly hub: HubService | null;
  /** Status of each enabled index. */
  indexes(): readonly IndexStatus[];
  /** Cache of the transactions of blocks as JSON text; null without `-rpccache`. */
  readonly blockTexts: BlockTextCache | null;
  readonly mempool: MempoolReader;
  /** Statistics and claim operations of the mempool, updated with each change. */
  readonly waiting: {
    readonly summary: MempoolSummary;
    readonly claims: MempoolClaims;
    /** Source of the claims in the mempool; null without `-claimindex`. */
    readonly feed: WaitingFeed | null;
  };
  /** Claims in the state that includes the mempool; null without `-claimindex`. */
  readonly shownClaims: WaitingClaimIndex | null;
  readonly mempoolGate: MempoolGate;
  /** Estimates of the fee rates with which transactions confirm in time. */
  readonly fees: FeeEstimates;
  readonly mining: MiningService;
  readonly clock: ClockService;
  /** Deletes old block files; null unless the node prunes (`-prune`). */
  readonly pruner: Pruner | null;
  readonly network: NetworkService;
  /** Writes and checks snapshots of the chain state. */
  readonly snapshots: SnapshotService;
  /** The peer network; null if the node runs without peers. */
  readonly peers: PeerService | null;
  /** Runs the scans of `scantxoutset`. At most one scan runs at a time. */
  readonly coinScan: CoinScanner;
  readonly options: RpcNodeOptions;
  /** Wallets of the node; null without wallets (`-disablewallet`). */
  readonly wallets: Wallets | null;
  /** Returns the topics that ZeroMQ publishes, with their addresses. */
  zmqNotifiers(): readonly { readonly type: string; readonly address: string }[];
  /** Warnings about network, chain or build, for results that contain warnings; empty if there are none. */
  warnings(): string;
}

/** Memory use of the process, for `getmemoryinfo`. */
export interface MemoryService {
  /** Returns the caches of the main thread, with their sizes. */
  caches(): Promise<readonly CacheUsage[]>;
  /** Heap and cache usage of each worker thread. */
  threads(): Promise<readonly ThreadUsage[]>;
  /** Returns the usage of the C library's heap; null if the platform does not report it. */
  nativeHeap(): NativeHeapUsage | null;
}

/** Memory of the C library's heap in bytes: used and free bytes in its arenas, and bytes in separate mappings. */
export interface NativeHeapUsage {
  readonly usedBytes: number;
  readonly freeBytes: number;
  readonly mappedBytes: number;
}

/** Snapshots of the chain state. Paths are absolute. Rejects with `SnapshotError`. */
export interface SnapshotService {
  /**
   * Writes a snapshot to a file that must not exist yet. The snapshot has the state after the block at `height`, or at the
   * tip for null.
   */
  dump(path: string, height: number | null, signal: AbortSignal): Promise<DumpedSnapshot>;
  /** Reads a whole snapshot file and checks everything that can be checked without the blocks. */
  verify(path: string, signal: AbortSignal): Promise<ReadSnapshot>;
  /** Status of the loaded snapshot while the blocks below it are not validated yet; null otherwise. */
  status(): SnapshotStatus | null;
  /** Absolute path for a file name. A relative name is resolved in the folder of the network. */
  resolve(name: string): string;
}

/** The start time of the node, and the request to stop it. */
export interface LifecycleService {
  /** Start time of the process, in seconds since 1970 by the system clock. */
  readonly startTimeSec: number;
  /** Requests a clean stop of the node. Returns immediately, so that the response to the caller can still be sent. */
  requestStop(): void;
}

/** Finds possible positions of a transaction on the active chain. The caller must compare the txid. */
export interface TransactionFinder {
  find(txid: Bytes): MaybePromise<TxLocation[]>;
}

/** Finds positions of transactions on the active chain that may have spent an output. The caller must check the transactions. */
export interface SpendFinder {
  find(txid: Bytes, n: number): Promise<SpenderPlace[]>;
}

/** The address index, queried by script keys (`index/addressScripts.ts`). */
export interface AddressService extends Pick<AddressQueries, 'totals' | 'history' | 'unspent'> {
  /**
   * Mempool transactions that pay to or spend from any of the scripts, in order of arrival, with an arrival number of at
   * least `first`.
   */
  mempoolTransactions(scriptKeys: readonly string[], first?: number): readonly UnconfirmedTransaction[];
  /** Mempool transactions of one script by txid (latin1), in order of arrival; see `MempoolAddresses.ofScript`. */
  ofMempool(scriptKey: string): ReadonlyMap<string, number>;
  /**
   * Registers a listener for changes in the mempool. It receives the scripts of a transaction that was added or removed, or
   * whose number of unconfirmed ancestors changed. The returned function removes the listener. The listener must not throw.
   */
  onMempool(listener: (scriptKeys: readonly string[]) => void): () => void;
}

/** The clock used by validation and mining. */
export interface ClockService {
  /** Time of the system clock, or the mocked time, in seconds since 1970. */
  nowSec(): number;
  /** Network-adjusted time: the system clock, or the mocked time, adjusted by the clocks of the peers. */
  adjustedTimeSec(): number;
  /** Sets a fixed time; 0 returns to the system's clock. */
  setMockTime(timeSec: number): void;
}

/** Data about the node in the peer network, for `getnetworkinfo` and `getinfo`. The module `net` implements it. */
export interface NetworkService {
  /** Version of the node as a number (Core's `CLIENT_VERSION`). */
  readonly version: number;
  /** User agent that is sent to peers, such as `/lbcnode:0.1.0/`. */
  readonly userAgent: string;
  readonly protocolVersion: number;
  /** Whether transactions are requested from peers. */
  readonly relaysTransactions: boolean;
  /** Whether the node has a peer network and the network is enabled. */
  isActive(): boolean;
  /** Services that the node offers to peers, as the bits of Core's `ServiceFlags`. */
  localServices(): bigint;
  connectionCount(): number;
  /** Difference in seconds between the clocks of the peers and of this node. */
  timeOffsetSec(): number;
  /** The networks `ipv4`, `ipv6` and `onion`, in this order. */
  networks(): readonly ReachableNetwork[];
  /** Addresses at which peers may reach this node. */
  localAddresses(): readonly LocalAddress[];
}

/** A network over which peers can be reached, with its proxy. */
export interface ReachableNetwork {
  readonly name: string;
  /** Whether the option `-onlynet` disables the network. */
  readonly limited: boolean;
  readonly reachable: boolean;
  /** Address of the proxy as `host:port`; empty without a proxy. */
  readonly proxy: string;
  /** Whether each connection through the proxy uses separate credentials (`-proxyrandomize`). */
  readonly randomizesProxyCredentials: boolean;
}

/** An address at which peers may reach this node. The score increases with the number of peers that confirmed the address. */
export interface LocalAddress {
  readonly address: string;
  readonly port: number;
  readonly score: number;
}

/** Options of the node that affect results of RPC methods. */
export interface RpcNodeOptions {
  /** Maximum fee of a transaction sent by callers (`-maxtxfee`). */
  readonly maxTxFeeSat: bigint;
  /** Fee rate increment for replacement and a full mempool (`-incrementalrelayfee`). */
  readonly incrementalFeeRatePerKb: bigint;
  /** Whether raw blocks and transactions are shown with witness (`-rpcserialversion=1`). */
  readonly serializeWitness: boolean;
  /** Whether decoded claim values are included in results (`-claimmetadata`). */
  readonly claimMetadata: boolean;
  /** Default values for the parameters of `verifychain` (`-checklevel`, `-checkblocks`). */
  readonly checkLevel: number;
  readonly checkBlocks: number;
}
