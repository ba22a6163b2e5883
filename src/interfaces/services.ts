/**
 * What RPC methods may ask of the node: one narrow interface, filled by the composition root. Each part names what a
 * group of methods needs and no more; a method reaches it as `ctx.services.<part>`. Add a part when a method needs one.
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
  /** Log for details that an answer omits. */
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
  /** How far each index is that runs. */
  indexes(): readonly IndexStatus[];
  /** What is kept of answers about blocks; null without `-rpccache`. */
  readonly blockTexts: BlockTextCache | null;
  readonly mempool: MempoolReader;
  /** Figures and claim operations of what is in the mempool, kept as it changes. */
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
  /** The one walk of `scantxoutset` that may be under way. */
  readonly coinScan: CoinScanner;
  readonly options: RpcNodeOptions;
  /** Null when the node runs without wallets (`-disablewallet`). */
  readonly wallets: Wallets | null;
  /** What is published by ZeroMQ, and where. */
  zmqNotifiers(): readonly { readonly type: string; readonly address: string }[];
  /** What is wrong with network, chain or build, for the answers that carry warnings; empty when nothing is. */
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
  /** Reads a file to its end and checks all that can be checked without blocks. */
  verify(path: string, signal: AbortSignal): Promise<ReadSnapshot>;
  /** What the node stands on while the blocks up to it are not validated; null when it stands on its own blocks. */
  status(): SnapshotStatus | null;
  /** The absolute path of a name; relative ones are of the network's folder. */
  resolve(name: string): string;
}

/** Starting and stopping the node. */
export interface LifecycleService {
  /** When the process started, on the real clock. */
  readonly startTimeSec: number;
  /** Begins a clean stop; returns at once, so that the answer still gets out. */
  requestStop(): void;
}

/** Finds transactions of the active chain; the reader verifies the txid. */
export interface TransactionFinder {
  find(txid: Bytes): MaybePromise<TxLocation[]>;
}

/** Where transactions of the active chain lie that may have spent an output; the reader compares them with it. */
export interface SpendFinder {
  find(txid: Bytes, n: number): Promise<SpenderPlace[]>;
}

/** What the address index knows of scripts, by their keys (`index/addressScripts.ts`). */
export interface AddressService extends Pick<AddressQueries, 'totals' | 'history' | 'unspent'> {
  /** The transactions in the mempool that touch one of the scripts, in order, from arrival `first` on. */
  mempoolTransactions(scriptKeys: readonly string[], first?: number): readonly UnconfirmedTransaction[];
  /** Mempool transactions of one script by id (latin1), in order; see `MempoolAddresses.ofScript`. */
  ofMempool(scriptKey: string): ReadonlyMap<string, number>;
  /**
   * Notified of the scripts that are touched by a transaction which came to the mempool, left it, or has another number of
   * unconfirmed ancestors. The returned function ends it. Must not throw.
   */
  onMempool(listener: (scriptKeys: readonly string[]) => void): () => void;
}

/** The clock that validation and mining go by. */
export interface ClockService {
  /** The clock, or the mocked time, in seconds since 1970. */
  nowSec(): number;
  /** Network time: the clock, or the mocked time, corrected by the peers. */
  adjustedTimeSec(): number;
  /** Stops the clock at a time; 0 lets it run again. */
  setMockTime(timeSec: number): void;
}

/** The node among its peers, as `getnetworkinfo` and `getinfo` tell it. Whatever runs the peer network fills it. */
export interface NetworkService {
  /** The node's version as one number (Core's `CLIENT_VERSION`). */
  readonly version: number;
  /** The user agent: `/lbcnode:0.1.0/`. */
  readonly userAgent: string;
  readonly protocolVersion: number;
  /** Whether peers are asked for transactions. */
  readonly relaysTransactions: boolean;
  /** Whether there is a peer network and it is switched on. */
  isActive(): boolean;
  /** The services offered to peers, as the bits of Core's `ServiceFlags`. */
  localServices(): bigint;
  connectionCount(): number;
  /** How far the peers' clocks are ahead, in seconds. */
  timeOffsetSec(): number;
  /** `ipv4`, `ipv6` and `onion`, in this order. */
  networks(): readonly ReachableNetwork[];
  /** Our own addresses as far as they are known. */
  localAddresses(): readonly LocalAddress[];
}

/** A network of peers with its proxy. */
export interface ReachableNetwork {
  readonly name: string;
  /** Whether options leave it out (`-onlynet`). */
  readonly limited: boolean;
  readonly reachable: boolean;
  /** `host:port`, empty without a proxy. */
  readonly proxy: string;
  /** Whether each connection through the proxy gets credentials of its own (`-proxyrandomize`). */
  readonly randomizesProxyCredentials: boolean;
}

/** An address at which peers may reach us; a higher score was confirmed by more of them. */
export interface LocalAddress {
  readonly address: string;
  readonly port: number;
  readonly score: number;
}

/** The options that answers depend on. */
export interface RpcNodeOptions {
  /** Highest fee of a transaction that callers send (`-maxtxfee`). */
  readonly maxTxFeeSat: bigint;
  /** Step in which fees grow, for replacement and a full mempool (`-incrementalrelayfee`). */
  readonly incrementalFeeRatePerKb: bigint;
  /** Whether raw blocks and transactions are shown with witness (`-rpcserialversion=1`). */
  readonly serializeWitness: boolean;
  /** Whether what the values of claims say is shown beside them (`-claimmetadata`). */
  readonly claimMetadata: boolean;
  /** Defaults of `verifychain` (`-checklevel`, `-checkblocks`). */
  readonly checkLevel: number;
  readonly checkBlocks: number;
}
