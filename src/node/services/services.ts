/**
 * Fills the RPC methods' view of the node. What needs the chain is attached once it is open; until then every call is
 * answered "warming up", so no one asks.
 */
import { join } from 'node:path';
import type { ChainReader } from '../../chain/chainReader.js';
import type { OpenedChain } from '../../chain/open/openChain.js';
import type { BackgroundValidation } from '../../chain/snapshot/backgroundValidation.js';
import type { Pruner } from '../../chain/blocks/pruner.js';
import type { BackgroundFill } from '../../index/backgroundFill.js';
import { BlockFilters } from '../../index/filterIndex.js';
import { claimIndexOf, type ClaimIndexQueries } from '../../index/claims/claimIndexQueries.js';
import { findSpenders } from '../../index/spendIndex.js';
import { findTransaction } from '../../index/txIndex.js';
import { readFeeHistory, writeFeeHistory } from '../../mempool/fees/feeEstimatesFile.js';
import { Mempool } from '../../mempool/mempool.js';
import { Miner } from '../../mining/miner.js';
import { formatHost } from '../../net/netAddress.js';
import { PeerNetwork, type Listening, type PeerNetworkOptions } from '../../net/peerNetwork.js';
import { AnswerCache } from '../../rpc/call/answerCache.js';
import { BlockTexts } from '../../rpc/lookup/blockTexts.js';
import { claimReader, type ClaimReader } from '../../rpc/lookup/claimReader.js';
import { CoinScan } from '../../rpc/lookup/coinScan.js';
import type { HubService } from '../../rpc/declare/hubService.js';
import type { PeerService } from '../../rpc/declare/peerService.js';
import type { AddressService, LocalAddress, RpcServices } from '../../rpc/declare/services.js';
import { assert } from '../../util/assert.js';
import { Wallets } from '../../wallet/wallets.js';
import type { LogControl, Logger } from '../../util/logging.js';
import type { ClaimSearch } from '../../search/claimSearch.js';
import { addressService } from './addressService.js';
import { channelIds } from './channelIds.js';
import { ChainWarnings } from '../watch/chainWarnings.js';
import type { AdjustedClock } from '../clock.js';
import type { ThreadMemory } from '../../util/threadMemory.js';
import { memoryService } from './memoryService.js';
import { mempoolSettings } from './mempoolSettings.js';
import { WaitingClaimIndex } from '../../index/waiting/waitingIndex.js';
import { waitingService } from './waitingService.js';
import { presentNetworks, versionNumber } from '../options/networkSettings.js';
import { notifyAlert } from './notify.js';
import type { LoadedOptions } from '../options/options.js';
import { peerService } from './peerService.js';
import { notifyWallets } from './notify.js';
import { snapshotService } from './snapshotService.js';
import { walletPort } from './walletPort.js';
import { walletNamesAtStart, walletSettings } from './walletSettings.js';

/** The P2P protocol spoken: with witnesses, compact blocks and NETWORK_LIMITED. */
const PROTOCOL_VERSION = 70_015;

export interface ServicesInput {
  loaded: LoadedOptions;
  clock: AdjustedClock;
  startTimeSec: number;
  peerOptions: PeerNetworkOptions;
  zmqNotifiers: RpcServices['zmqNotifiers'];
  threads: ThreadMemory;
  /** Warns the operator and writes to the log. */
  warn: (message: string) => void;
  deps: { logger: Logger & LogControl; requestStop: () => void; signal: AbortSignal };
}

export interface NodeServices {
  services: RpcServices;
  /** The kept answers that methods report. */
  showAnswers(answers: AnswerCache | null): void;
  /** Warning that no peer can be reached, with a remedy; empty while connected. */
  outage(): string;
  /** Makes what follows the chain from its first block on; answers the mempool. */
  follow(reader: ChainReader): Mempool;
  attach(opened: OpenedChain, pruner: Pruner | null, indexes: Pick<BackgroundFill, 'statuses'>): void;
  /** Opens the index by which claims are searched. Rejects with `EnvironmentError` where there is nothing to keep it in. */
  openSearch(): Promise<{ close(): Promise<void> }>;
  /** The background validation that methods report. */
  showValidation(validation: BackgroundValidation): void;
  /** The hub that methods report. */
  showHub(hub: HubService): void;
  /** Finds peers and talks to them. Tells where it cannot listen, one line an address, and how to stop. */
  connect(onBug: (error: unknown) => void): Promise<Listening & { net: PeerNetwork; stop(): Promise<void> }>;
  /** Opens the wallets that the options name. Rejects with `WalletOpenError`. */
  openWallets(onFatal: (error: unknown) => void, showStart: (status: string) => void): Promise<Wallets>;
  /** Reads the mempool that the last run left; a long one continues being read, `onFatal` hearing of a broken disk. */
  load(onFatal: (error: unknown) => void): Promise<void>;
  /** Writes what must be on disk after a stop. */
  save(): Promise<void>;
}

/** The share of `-rpccache` for the transactions of blocks: a large block takes megabytes, all other answers are small. */
const BLOCK_TEXTS_SHARE = 0.75;

/** Keeps answers in what blocks leave of this many MiB; null for none. */
export function makeAnswerCache(sizeMib: number, services: RpcServices): AnswerCache | null {
  if (sizeMib === 0) return null;
  return new AnswerCache(sizeMib * (1 << 20) * (1 - BLOCK_TEXTS_SHARE), () => {
    const { headers, chain } = services.chain;
    const { tip, disconnects } = chain.index.active;
    const mempoolChanges = services.mempool.changeCount;
    return { tip, disconnects, headerChanges: headers.changes, mempoolChanges };
  });
}

interface Attached {
  opened: OpenedChain;
  pruner: Pruner | null;
  indexes: Pick<BackgroundFill, 'statuses'>;
  mining: Miner;
  claims: ClaimReader;
  blockFilters: BlockFilters;
  claimIndex: ClaimIndexQueries;
}

export function makeServices({
  loaded,
  clock,
  startTimeSec,
  peerOptions,
  zmqNotifiers,
  threads,
  warn,
  deps,
}: ServicesInput): NodeServices {
  const { options, params, derived, paths } = loaded;
  const feesPath = join(paths.networkDir, 'fee_estimates.dat');
  let attached: Attached | null = null;
  let mempool: Mempool | null = null;
  let addresses: AddressService | null = null;
  let warnings: ChainWarnings | null = null;
  let wallets: Wallets | null = null;
  let claimSearch: ClaimSearch | null = null;
  let shownClaims: WaitingClaimIndex | null = null;
  let hub: HubService | null = null;
  let answers: AnswerCache | null = null;
  let validation: BackgroundValidation | null = null;
  let peers: { net: PeerNetwork; service: PeerService } | null = null;
  const loading = new AbortController();
  let waiting: RpcServices['waiting'] | null = null;
  let mempoolRead: Promise<void> = Promise.resolve();
  const now = (): Attached => {
    assert(attached, 'a method asked for the chain before it was open');
    return attached;
  };
  const theMempool = (): Mempool => {
    assert(mempool, 'a method asked for the mempool before there was one');
    return mempool;
  };
  const services: RpcServices = {
    lifecycle: { startTimeSec, requestStop: deps.requestStop },
    memory: memoryService({
      loaded,
      threads,
      services: () => services,
      opened: () => attached?.opened ?? null,
      answers: () => answers,
    }),
    logging: deps.logger,
    log: deps.logger,
    params,
    get chain() {
      return now().opened.reader;
    },
    get claims() {
      return now().claims;
    },
    txIndex: options.txindex ? { find: (txid) => findTransaction(now().opened.store, txid) } : null,
    spends: options.spendindex ? { find: (txid, n) => findSpenders(now().opened.store, txid, n) } : null,
    get blockFilters() {
      return derived.keepsBlockFilters ? now().blockFilters : null;
    },
    get addresses() {
      return addresses;
    },
    get claimIndex() {
      return options.claimindex ? now().claimIndex : null;
    },
    get shownClaims() {
      const feed = waiting?.feed ?? null;
      if (feed === null) return null;
      return (shownClaims ??= new WaitingClaimIndex(now().claimIndex, feed.claims));
    },
    get claimSearch() {
      return claimSearch;
    },
    get hub() {
      return hub;
    },
    indexes: () => now().indexes.statuses(),
    get mempool() {
      return theMempool();
    },
    get waiting() {
      assert(waiting, 'a method asked for the mempool before there was one');
      return waiting;
    },
    get mempoolGate() {
      return theMempool();
    },
    get fees() {
      return theMempool().fees;
    },
    get mining() {
      return now().mining;
    },
    clock: {
      nowSec: () => clock.nowSec(),
      adjustedTimeSec: () => clock.adjustedSec(),
      setMockTime: (timeSec) => clock.setMock(timeSec),
    },
    get pruner() {
      return now().pruner;
    },
    snapshots: snapshotService(loaded, {
      opened: () => now().opened,
      indexes: () => now().indexes.statuses(),
      adjustedTimeSec: () => clock.adjustedSec(),
      status: () => validation?.status ?? null,
    }),
    network: {
      version: versionNumber(),
      userAgent: derived.userAgent,
      protocolVersion: PROTOCOL_VERSION,
      relaysTransactions: !options.blocksonly,
      isActive: () => peers?.net.peers.isActive ?? false,
      localServices: () => peers?.net.localServices() ?? 0n,
      connectionCount: () => peers?.net.peers.count ?? 0,
      timeOffsetSec: () => peers?.net.timeOffset.offsetSec ?? 0,
      networks: () => presentNetworks(derived.networks, peerOptions.networks),
      localAddresses: () => localAddresses(peers?.net ?? null),
    },
    get peers() {
      return peers?.service ?? null;
    },
    coinScan: new CoinScan(),
    blockTexts:
      options.rpccache === 0 ? null : new BlockTexts(options.rpccache * (1 << 20) * BLOCK_TEXTS_SHARE),
    options: {
      maxTxFeeSat: options.maxtxfee,
      incrementalFeeRatePerKb: options.incrementalrelayfee,
      serializeWitness: options.rpcserialversion > 0,
      claimMetadata: options.claimmetadata,
      checkLevel: options.checklevel,
      checkBlocks: options.checkblocks,
    },
    get wallets() {
      return wallets;
    },
    zmqNotifiers,
    warnings: () => warnings?.text() || peers?.net.warning() || '',
  };
  return {
    services,
    showAnswers(kept) {
      answers = kept;
    },
    outage: () => peers?.net.outageWarning ?? '',
    follow(reader) {
      mempool = new Mempool(mempoolSettings(loaded), {
        reader,
        nowSec: () => clock.nowSec(),
        log: deps.logger,
        warn,
        feeHistory: readFeeHistory(feesPath, deps.logger, warn),
      });
      waiting = waitingService(
        mempool,
        options.claimindex
          ? { params, maxBytes: options.maxmempool * 1_000_000, warn: (text) => deps.logger.warn(text) }
          : null,
      );
      if (options.addressindex) addresses = addressService(mempool, () => now().opened.store);
      warnings = new ChainWarnings({
        chain: reader.chain,
        log: deps.logger,
        alert: (message) => notifyAlert(options.alertnotify, message, deps.logger),
      });
      return mempool;
    },
    attach(opened, pruner, indexes) {
      const mining = new Miner(
        {
          maxWeight: options.blockmaxweight,
          minFeeRatePerKb: options.blockmintxfee,
          version: loaded.network === 'regtest' ? (options.blockversion ?? null) : null,
          payoutScripts: derived.payoutScripts,
          ...(options.printpriority ? { printPriority: (line) => deps.logger.info(line) } : {}),
        },
        { chain: opened.chain, source: theMempool(), adjustedTimeSec: () => clock.adjustedSec() },
      );
      attached = {
        opened,
        pruner,
        indexes,
        mining,
        claims: claimReader(opened.store, opened.claims, opened.chain.index.active),
        blockFilters: new BlockFilters(opened.store, opened.chain.index.active),
        claimIndex: claimIndexOf(opened.reader, opened.claims.rules, () => indexes.statuses()),
      };
    },
    async openSearch() {
      const { opened, claimIndex } = now();
      const { openClaimSearch } = await import('./claimSearch.js');
      const search = await openClaimSearch({
        networkDir: paths.networkDir,
        params,
        reader: opened.reader,
        index: claimIndex,
        rules: opened.claims.rules,
        wantedBy: options.hub ? '-hub' : '-claimsearch',
        lists: {
          blocking: channelIds(options.hubblockingchannels),
          filtering: channelIds(options.hubfilteringchannels),
        },
        postgres:
          options.claimsearchurl === ''
            ? null
            : {
                url: options.claimsearchurl,
                schema: options.claimsearchschema,
                connections: options.claimsearchconnections,
              },
        timeoutMs: options.claimsearchtimeout,
        log: deps.logger,
        waiting: waiting?.feed?.claims ?? null,
      });
      claimSearch = search.search;
      return search;
    },
    showValidation(opened) {
      validation = opened;
    },
    showHub(opened) {
      hub = opened;
    },
    async connect(onBug) {
      const { reader, chain } = now().opened;
      const net = new PeerNetwork(peerOptions, {
        chain,
        reader,
        mempool: theMempool(),
        blockFilters: derived.keepsBlockFilters ? now().blockFilters : null,
        nowSec: () => clock.nowSec(),
        adjustedTimeSec: () => clock.adjustedSec(),
        log: deps.logger,
        warn: (message) => {
          deps.logger.warn(message);
          notifyAlert(options.alertnotify, message, deps.logger);
        },
        warnOfFile: warn,
        onBug,
      });
      clock.peersOffsetSec = () => net.timeOffset.offsetSec;
      peers = { net, service: peerService(net, () => clock.nowSec(), deps.logger) };
      return { ...(await net.start()), net, stop: () => net.stop() };
    },
    async openWallets(onFatal, showStart) {
      const { reader } = now().opened;
      const { limitancestorcount, limitdescendantcount, dustrelayfee } = options;
      const opened = new Wallets(
        walletSettings(loaded),
        walletPort({
          services,
          reader,
          mempool: theMempool(),
          log: deps.logger,
          dustRatePerKb: dustrelayfee,
          limits: { ancestors: limitancestorcount, descendants: limitdescendantcount },
          nowSec: () => clock.nowSec(),
          onFatal,
          warn,
          showStart,
        }),
      );
      deps.logger.debug('db', `Using wallet directory ${opened.options.walletDir}`);
      notifyWallets(opened, options.walletnotify, deps.logger);
      const stop = (): void => opened.interrupt();
      deps.signal.addEventListener('abort', stop);
      try {
        for (const name of walletNamesAtStart(loaded)) {
          showStart('Loading wallet...');
          await opened.openOrCreate(name);
        }
      } catch (error) {
        await opened.close();
        throw error;
      } finally {
        deps.signal.removeEventListener('abort', stop);
      }
      wallets = opened;
      return opened;
    },
    async load(onFatal) {
      const { finished } = await theMempool().load(AbortSignal.any([loading.signal, deps.signal]));
      mempoolRead = finished.catch(onFatal);
    },
    async save() {
      loading.abort();
      await mempoolRead;
      if (options.persistmempool && theMempool().isLoaded) await theMempool().save();
      await writeFeeHistory(feesPath, theMempool().finishFees(), deps.logger);
    },
  };
}

function localAddresses(net: PeerNetwork | null): LocalAddress[] {
  const known = net?.local.list() ?? [];
  return known.map(({ address, score }) => ({ address: formatHost(address), port: address.port, score }));
}
