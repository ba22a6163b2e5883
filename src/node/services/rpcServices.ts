/** Provides the services of the RPC methods from those components of the node that are open. */
import type { OpenedChain } from '../../chain/open/openChain.js';
import type { BackgroundValidation } from '../../chain/snapshot/backgroundValidation.js';
import type { ChainReader } from '../../chain/chainReader.js';
import type { Pruner } from '../../chain/blocks/pruner.js';
import type { BackgroundFill } from '../../index/backgroundFill.js';
import type { IndexStatus } from '../../index/chainIndex.js';
import type { BlockFilters } from '../../index/filterIndex.js';
import type { ClaimIndexQueries } from '../../index/claims/claimIndexQueries.js';
import { findSpenders } from '../../index/spendIndex.js';
import { findTransaction } from '../../index/txIndex.js';
import { WaitingClaimIndex } from '../../index/waiting/waitingIndex.js';
import type { FeeEstimates } from '../../mempool/fees/feeEstimator.js';
import type { Mempool } from '../../mempool/mempool.js';
import type { Miner } from '../../mining/miner.js';
import { formatHost } from '../../net/netAddress.js';
import type { PeerNetwork, PeerNetworkOptions } from '../../net/peerNetwork.js';
import type { AnswerCache } from '../../rpc/call/answerCache.js';
import type { HubService } from '../../interfaces/hubService.js';
import type { PeerService } from '../../interfaces/peerService.js';
import type {
  AddressService,
  ClockService,
  LocalAddress,
  MemoryService,
  NetworkService,
  RpcNodeOptions,
  RpcServices,
  SnapshotService,
} from '../../interfaces/services.js';
import { BlockTexts } from '../../rpc/lookup/blockTexts.js';
import type { ClaimReader } from '../../interfaces/claimReader.js';
import { CoinScan } from '../../rpc/lookup/coinScan.js';
import type { ClaimSearch } from '../../search/claimSearch.js';
import { assert } from '../../util/assert.js';
import type { LogControl, Logger } from '../../util/logging.js';
import type { ThreadMemory } from '../../util/threadMemory.js';
import type { Wallets } from '../../wallet/wallets.js';
import type { AdjustedClock } from '../clock.js';
import { presentNetworks, versionNumber } from '../options/networkSettings.js';
import type { LoadedOptions } from '../options/options.js';
import type { ChainWarnings } from '../watch/chainWarnings.js';
import { memoryService, type CacheSize } from './memoryService.js';
import { snapshotService } from './snapshotService.js';

/** P2P protocol version of this node: supports witnesses, compact blocks and NETWORK_LIMITED. */
const PROTOCOL_VERSION = 70_015;

/**
 * Share of `-rpccache` that is reserved for results with the transactions of a block. A large block takes megabytes; all
 * other results are small.
 */
export const BLOCK_TEXTS_SHARE = 0.75;

export interface ServicesInput {
  loaded: LoadedOptions;
  clock: AdjustedClock;
  startTimeSec: number;
  peerOptions: PeerNetworkOptions;
  zmqNotifiers: RpcServices['zmqNotifiers'];
  threads: ThreadMemory;
  /** Shows a warning to the operator and writes it to the log. */
  warn: (message: string) => void;
  deps: { logger: Logger & LogControl; requestStop: () => void; signal: AbortSignal };
}

/** Components that exist only after the chain is open. */
export interface Attached {
  readonly opened: OpenedChain;
  readonly pruner: Pruner | null;
  readonly indexes: Pick<BackgroundFill, 'statuses'>;
  readonly mining: Miner;
  readonly claims: ClaimReader;
  readonly blockFilters: BlockFilters;
  readonly claimIndex: ClaimIndexQueries;
}

/** Components of the node; null until they are open. */
export class NodeParts {
  attached: Attached | null = null;
  pool: Mempool | null = null;
  waiting: RpcServices['waiting'] | null = null;
  addresses: AddressService | null = null;
  warnings: ChainWarnings | null = null;
  wallets: Wallets | null = null;
  claimSearch: ClaimSearch | null = null;
  hub: HubService | null = null;
  answers: AnswerCache | null = null;
  esplora: CacheSize | null = null;
  validation: BackgroundValidation | null = null;
  peers: { readonly net: PeerNetwork; readonly service: PeerService } | null = null;

  /** Components of the open chain. Throws before the chain is open. */
  get now(): Attached {
    assert(this.attached, 'a method requested the chain before it was open');
    return this.attached;
  }

  get mempool(): Mempool {
    assert(this.pool, 'a method requested the mempool before it existed');
    return this.pool;
  }
}

export class NodeRpcServices implements RpcServices {
  readonly lifecycle: RpcServices['lifecycle'];
  readonly memory: MemoryService;
  readonly logging: LogControl;
  readonly log: Logger;
  readonly params: RpcServices['params'];
  readonly txIndex: RpcServices['txIndex'];
  readonly spends: RpcServices['spends'];
  readonly clock: ClockService;
  readonly snapshots: SnapshotService;
  readonly network: NetworkService;
  readonly coinScan = new CoinScan();
  readonly blockTexts: BlockTexts | null;
  readonly options: RpcNodeOptions;
  readonly zmqNotifiers: RpcServices['zmqNotifiers'];
  readonly warnings = (): string => {
    const { warnings, validation, peers } = this.parts;
    return warnings?.text() || validation?.warning || peers?.net.warning() || '';
  };
  // This is an arrow function, because methods extract it from the object without `this`, as they do with `warnings`.
  readonly indexes = (): readonly IndexStatus[] => this.parts.now.indexes.statuses();
  private readonly parts: NodeParts;
  private readonly hasClaimIndex: boolean;
  private readonly keepsBlockFilters: boolean;
  private madeShownClaims: WaitingClaimIndex | null = null;

  constructor(parts: NodeParts, input: ServicesInput) {
    const { loaded, clock, startTimeSec, zmqNotifiers, threads, deps } = input;
    const { options, params, derived } = loaded;
    this.parts = parts;
    this.hasClaimIndex = options.claimindex;
    this.keepsBlockFilters = derived.keepsBlockFilters;
    this.lifecycle = { startTimeSec, requestStop: deps.requestStop };
    this.memory = memoryService({
      threads,
      services: () => this,
      opened: () => parts.attached?.opened ?? null,
      validation: () => parts.validation?.memory ?? null,
      answers: () => parts.answers,
      esplora: () => parts.esplora,
    });
    this.logging = deps.logger;
    this.log = deps.logger;
    this.params = params;
    this.txIndex = options.txindex ? { find: (txid) => findTransaction(parts.now.opened.store, txid) } : null;
    this.spends = options.spendindex
      ? { find: (txid, n) => findSpenders(parts.now.opened.store, txid, n) }
      : null;
    this.clock = {
      nowSec: () => clock.nowSec(),
      adjustedTimeSec: () => clock.adjustedSec(),
      setMockTime: (timeSec) => clock.setMock(timeSec),
    };
    this.snapshots = snapshotService(loaded, {
      opened: () => parts.now.opened,
      indexes: () => parts.now.indexes.statuses(),
      adjustedTimeSec: () => clock.adjustedSec(),
      status: () => parts.validation?.status ?? null,
    });
    this.network = networkService(parts, input);
    this.blockTexts =
      options.rpccache === 0 ? null : new BlockTexts(options.rpccache * (1 << 20) * BLOCK_TEXTS_SHARE);
    this.options = {
      maxTxFeeSat: options.maxtxfee,
      incrementalFeeRatePerKb: options.incrementalrelayfee,
      serializeWitness: options.rpcserialversion > 0,
      claimMetadata: options.claimmetadata,
      checkLevel: options.checklevel,
      checkBlocks: options.checkblocks,
    };
    this.zmqNotifiers = zmqNotifiers;
  }

  get chain(): ChainReader {
    return this.parts.now.opened.reader;
  }
  get claims(): ClaimReader {
    return this.parts.now.claims;
  }
  get blockFilters(): RpcServices['blockFilters'] {
    return this.keepsBlockFilters ? this.parts.now.blockFilters : null;
  }
  get addresses(): AddressService | null {
    return this.parts.addresses;
  }
  get claimIndex(): ClaimIndexQueries | null {
    return this.hasClaimIndex ? this.parts.now.claimIndex : null;
  }
  get shownClaims(): WaitingClaimIndex | null {
    const feed = this.parts.waiting?.feed ?? null;
    if (feed === null) return null;
    return (this.madeShownClaims ??= new WaitingClaimIndex(this.parts.now.claimIndex, feed.claims));
  }
  get claimSearch(): ClaimSearch | null {
    return this.parts.claimSearch;
  }
  get hub(): HubService | null {
    return this.parts.hub;
  }
  get mempool(): Mempool {
    return this.parts.mempool;
  }
  get waiting(): RpcServices['waiting'] {
    const { waiting } = this.parts;
    assert(waiting, 'a method requested the mempool before it existed');
    return waiting;
  }
  get mempoolGate(): Mempool {
    return this.parts.mempool;
  }
  get fees(): FeeEstimates {
    return this.parts.mempool.fees;
  }
  get mining(): Miner {
    return this.parts.now.mining;
  }
  get pruner(): Pruner | null {
    return this.parts.now.pruner;
  }
  get peers(): PeerService | null {
    return this.parts.peers?.service ?? null;
  }
  get wallets(): Wallets | null {
    return this.parts.wallets;
  }
}

function networkService(parts: NodeParts, { loaded, peerOptions }: ServicesInput): NetworkService {
  const { options, derived } = loaded;
  const net = (): PeerNetwork | null => parts.peers?.net ?? null;
  return {
    version: versionNumber(),
    userAgent: derived.userAgent,
    protocolVersion: PROTOCOL_VERSION,
    relaysTransactions: !options.blocksonly,
    isActive: () => net()?.peers.isActive ?? false,
    localServices: () => net()?.localServices() ?? 0n,
    connectionCount: () => net()?.peers.count ?? 0,
    timeOffsetSec: () => net()?.timeOffset.offsetSec ?? 0,
    networks: () => presentNetworks(derived.networks, peerOptions.networks),
    localAddresses: () => localAddresses(net()),
  };
}

function localAddresses(net: PeerNetwork | null): LocalAddress[] {
  const known = net?.local.list() ?? [];
  return known.map(({ address, score }) => ({ address: formatHost(address), port: address.port, score }));
}
