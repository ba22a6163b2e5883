/**
 * What RPC methods may ask of the node: one narrow interface, filled by the composition root. Each part names what a
 * group of methods needs and no more; a method reaches it as `ctx.services.<part>`. Add a part when a method needs one.
 */
import type { ChainReader } from '../chain/chainReader.js';
import type { Pruner } from '../chain/pruner.js';
import type { TxLocation } from '../index/txIndex.js';
import type { MempoolGate, MempoolReader } from '../mempool/mempoolReader.js';
import type { MiningService } from '../mining/miner.js';
import type { NetworkParams } from '../params/network.js';
import type { Bytes } from '../util/bytes.js';
import type { LogControl } from '../util/logging.js';
import type { CoinScan } from './coinScan.js';
import type { ClaimReader } from './claimReader.js';

export interface RpcServices {
  readonly lifecycle: LifecycleService;
  readonly logging: LogControl;
  readonly params: NetworkParams;
  readonly chain: ChainReader;
  readonly claims: ClaimReader;
  /** Null without `-txindex`. */
  readonly txIndex: TransactionFinder | null;
  readonly mempool: MempoolReader;
  readonly mempoolGate: MempoolGate;
  readonly mining: MiningService;
  readonly clock: ClockService;
  /** Null unless the node prunes (`-prune`). */
  readonly pruner: Pruner | null;
  readonly network: NetworkSummary;
  /** The one walk of `scantxoutset` that may be under way. */
  readonly coinScan: CoinScan;
  readonly options: RpcNodeOptions;
  /** What is wrong with network, chain or build, for the answers that carry warnings; empty when nothing is. */
  warnings(): string;
}

/** Starting and stopping the node. */
export interface LifecycleService {
  /** When the process started, on the real clock. */
  readonly startTimeSec: number;
  /** Begins a clean stop; returns at once, so that the answer still gets out. */
  requestStop(): void;
}

/** Where transactions of the active chain lie; the reader verifies the txid. */
export interface TransactionFinder {
  find(txid: Bytes): Promise<TxLocation[]>;
}

/** The clock that validation and mining go by. */
export interface ClockService {
  /** Network time: the clock, or the mocked time, corrected by the peers. */
  adjustedTimeSec(): number;
  /** Stops the clock at a time; 0 lets it run again. */
  setMockTime(timeSec: number): void;
}

/** What `getinfo` says about the node and its network. */
export interface NetworkSummary {
  /** The node's version as one number (Core's `CLIENT_VERSION`). */
  readonly version: number;
  readonly protocolVersion: number;
  /** Address of the proxy, empty without one. */
  readonly proxy: string;
  connectionCount(): number;
  timeOffsetSec(): number;
}

/** The options that answers depend on. */
export interface RpcNodeOptions {
  /** Highest fee of a transaction that callers send (`-maxtxfee`). */
  readonly maxTxFeeSat: bigint;
  /** Whether raw blocks and transactions are shown with witness (`-rpcserialversion=1`). */
  readonly serializeWitness: boolean;
  /** Defaults of `verifychain` (`-checklevel`, `-checkblocks`). */
  readonly checkLevel: number;
  readonly checkBlocks: number;
}
