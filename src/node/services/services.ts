/**
 * Interface between the start of the node and the services of RPC methods. Services that need the chain are attached when it
 * is open; until then every call fails with a warm-up error.
 */
import { join } from 'node:path';
import type { CacheSize } from './memoryService.js';
import type { Pruner } from '../../chain/blocks/pruner.js';
import type { ChainReader } from '../../chain/chainReader.js';
import type { OpenedChain } from '../../chain/open/openChain.js';
import type { ClaimReader } from '../../interfaces/claimReader.js';
import type { BackgroundValidation } from '../../chain/snapshot/backgroundValidation.js';
import type { BackgroundFill } from '../../index/backgroundFill.js';
import { claimIndexOf } from '../../index/claims/claimIndexQueries.js';
import { BlockFilters } from '../../index/filterIndex.js';
import { readFeeHistory, writeFeeHistory } from '../../mempool/fees/feeEstimatesFile.js';
import { Mempool } from '../../mempool/mempool.js';
import { Miner } from '../../mining/miner.js';
import { PeerNetwork, type Listening } from '../../net/peerNetwork.js';
import { AnswerCache } from '../../rpc/call/answerCache.js';
import type { HubService } from '../../interfaces/hubService.js';
import type { RpcServices } from '../../interfaces/services.js';
import { claimReader } from '../../rpc/lookup/claimReader.js';
import { inNextRound } from '../../scheduler/rounds.js';
import { Wallets } from '../../wallet/wallets.js';
import { ChainWarnings } from '../watch/chainWarnings.js';
import { addressService } from './addressService.js';
import { channelIds } from './channelIds.js';
import { mempoolSettings } from './mempoolSettings.js';
import { notifyAlert, notifyWallets } from './notify.js';
import { peerService } from './peerService.js';
import { BLOCK_TEXTS_SHARE, NodeParts, NodeRpcServices, type ServicesInput } from './rpcServices.js';
import { waitingService } from './waitingService.js';
import { walletPort } from './walletPort.js';
import { walletNamesAtStart, walletSettings } from './walletSettings.js';

export interface NodeServices {
  readonly services: RpcServices;
  /** Sets the result cache that `getmemoryinfo` and metrics report. */
  showAnswers(answers: AnswerCache | null): void;
  /** Sets the cache of `-esplora`, whose memory use `getmemoryinfo` shows; null if it has none. */
  showEsplora(recent: CacheSize | null): void;
  /** Warning that no peer can be reached, with a suggested fix. Empty while a peer is connected. */
  outage(): string;
  /** Creates the components that must follow the chain from its first block on. Returns the mempool. */
  follow(reader: ChainReader): Mempool;
  attach(opened: OpenedChain, pruner: Pruner | null, indexes: Pick<BackgroundFill, 'statuses'>): void;
  /** Opens the claim search index. Rejects with `EnvironmentError` if its storage is not available. */
  openSearch(): Promise<{ close(): Promise<void> }>;
  /** Makes the background validation of a snapshot available to the methods. */
  showValidation(validation: BackgroundValidation): void;
  /** Makes the hub available to the methods. */
  showHub(hub: HubService): void;
  /** Starts the peer network. Returns an error text for each address that cannot be bound, and a function to stop the network. */
  connect(onBug: (error: unknown) => void): Promise<Listening & { net: PeerNetwork; stop(): Promise<void> }>;
  /** Opens the wallets that the options name. Rejects with `WalletOpenError`. */
  openWallets(onFatal: (error: unknown) => void, showStart: (status: string) => void): Promise<Wallets>;
  /**
   * Loads the mempool saved by the last run. A large mempool continues to load in the background; disk errors are then
   * reported by `onFatal`.
   */
  load(onFatal: (error: unknown) => void): Promise<void>;
  /** Saves data that must survive a restart, such as the mempool. */
  save(): Promise<void>;
}

/**
 * Creates the RPC result cache. Its size is the share of `sizeMib` that is not reserved for blocks. Null if the cache is
 * disabled.
 */
export function makeAnswerCache(sizeMib: number, services: RpcServices): AnswerCache | null {
  if (sizeMib === 0) return null;
  return new AnswerCache(sizeMib * (1 << 20) * (1 - BLOCK_TEXTS_SHARE), () => {
    const { headers, chain } = services.chain;
    const { tip, disconnects } = chain.index.active;
    const mempoolChanges = services.mempool.changeCount;
    return { tip, disconnects, headerChanges: headers.changes, mempoolChanges };
  });
}

export function makeServices(input: ServicesInput): NodeServices {
  return new Services(input);
}

class Services implements NodeServices {
  readonly services: RpcServices;
  private readonly input: ServicesInput;
  private readonly parts = new NodeParts();
  private readonly feesPath: string;
  private readonly loading = new AbortController();
  private mempoolRead: Promise<void> = Promise.resolve();

  constructor(input: ServicesInput) {
    this.input = input;
    this.services = new NodeRpcServices(this.parts, input);
    this.feesPath = join(input.loaded.paths.networkDir, 'fee_estimates.dat');
  }

  showAnswers(answers: AnswerCache | null): void {
    this.parts.answers = answers;
  }

  showEsplora(recent: CacheSize | null): void {
    this.parts.esplora = recent;
  }

  outage(): string {
    return this.parts.peers?.net.outageWarning ?? '';
  }

  follow(reader: ChainReader): Mempool {
    const { input, parts } = this;
    const { loaded, clock, warn, deps } = input;
    const { options, params } = loaded;
    const mempool = new Mempool(mempoolSettings(loaded), {
      reader,
      nowSec: () => clock.nowSec(),
      log: deps.logger,
      warn,
      feeHistory: readFeeHistory(this.feesPath, deps.logger, warn),
    });
    parts.pool = mempool;
    parts.waiting = waitingService(
      mempool,
      options.claimindex
        ? { params, maxBytes: options.maxmempool * 1_000_000, warn: (text) => deps.logger.warn(text) }
        : null,
    );
    if (options.addressindex) parts.addresses = addressService(mempool, () => parts.now.opened.store);
    parts.warnings = new ChainWarnings({
      chain: reader.chain,
      log: deps.logger,
      alert: (message) => notifyAlert(options.alertnotify, message, deps.logger),
    });
    return mempool;
  }

  attach(opened: OpenedChain, pruner: Pruner | null, indexes: Pick<BackgroundFill, 'statuses'>): void {
    const { loaded, clock, deps } = this.input;
    const { options, derived } = loaded;
    const mining = new Miner(
      {
        maxWeight: options.blockmaxweight,
        minFeeRatePerKb: options.blockmintxfee,
        version: loaded.network === 'regtest' ? (options.blockversion ?? null) : null,
        payoutScripts: derived.payoutScripts,
        ...(options.printpriority ? { printPriority: (line) => deps.logger.info(line) } : {}),
      },
      { chain: opened.chain, source: this.parts.mempool, adjustedTimeSec: () => clock.adjustedSec() },
    );
    this.parts.attached = {
      opened,
      pruner,
      indexes,
      mining,
      claims: this.claims(opened),
      blockFilters: new BlockFilters(opened.store, opened.chain.index.active),
      claimIndex: claimIndexOf(opened.reader, opened.claims.rules, () => indexes.statuses()),
    };
  }

  /** Creates the reader of the claim store. After each block, names that callers request repeatedly are read in advance. */
  private claims({ store, claims, chain }: OpenedChain): ClaimReader {
    const { logger } = this.input.deps;
    const reader = claimReader(store, claims, chain.index.active);
    const refresh = (): void =>
      void reader.refresh().catch((error: unknown) => {
        logger.debug(
          'rpc',
          () => `Frequently requested names could not be read in advance: ${String(error)}`,
        );
      });
    chain.events.on('tipChanged', ({ initialDownload }) => {
      // The names are read after all other work that the new block causes, so that this work is not delayed.
      if (!initialDownload) inNextRound(refresh);
    });
    return reader;
  }

  async openSearch(): Promise<{ close(): Promise<void> }> {
    const { parts } = this;
    const { loaded, deps } = this.input;
    const { options, params, paths } = loaded;
    const { opened, claimIndex } = parts.now;
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
      waiting: parts.waiting?.feed?.claims ?? null,
    });
    parts.claimSearch = search.search;
    return search;
  }

  showValidation(validation: BackgroundValidation): void {
    this.parts.validation = validation;
  }

  showHub(hub: HubService): void {
    this.parts.hub = hub;
  }

  async connect(
    onBug: (error: unknown) => void,
  ): Promise<Listening & { net: PeerNetwork; stop(): Promise<void> }> {
    const { parts } = this;
    const { loaded, clock, peerOptions, warn, deps } = this.input;
    const { opened, blockFilters } = parts.now;
    const net = new PeerNetwork(peerOptions, {
      chain: opened.chain,
      reader: opened.reader,
      mempool: parts.mempool,
      blockFilters: loaded.derived.keepsBlockFilters ? blockFilters : null,
      nowSec: () => clock.nowSec(),
      adjustedTimeSec: () => clock.adjustedSec(),
      log: deps.logger,
      warn: (message) => {
        deps.logger.warn(message);
        notifyAlert(loaded.options.alertnotify, message, deps.logger);
      },
      warnOfFile: warn,
      onBug,
    });
    clock.peersOffsetSec = () => net.timeOffset.offsetSec;
    parts.peers = { net, service: peerService(net, () => clock.nowSec(), deps.logger) };
    return { ...(await net.start()), net, stop: () => net.stop() };
  }

  async openWallets(
    onFatal: (error: unknown) => void,
    showStart: (status: string) => void,
  ): Promise<Wallets> {
    const { services, parts } = this;
    const { loaded, clock, warn, deps } = this.input;
    const { options } = loaded;
    const { limitancestorcount, limitdescendantcount, dustrelayfee } = options;
    const opened = new Wallets(
      walletSettings(loaded),
      walletPort({
        services,
        reader: parts.now.opened.reader,
        mempool: parts.mempool,
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
    parts.wallets = opened;
    return opened;
  }

  async load(onFatal: (error: unknown) => void): Promise<void> {
    const signal = AbortSignal.any([this.loading.signal, this.input.deps.signal]);
    const { finished } = await this.parts.mempool.load(signal);
    this.mempoolRead = finished.catch(onFatal);
  }

  async save(): Promise<void> {
    const { loaded, deps } = this.input;
    const { mempool } = this.parts;
    this.loading.abort();
    await this.mempoolRead;
    if (loaded.options.persistmempool && mempool.isLoaded) await mempool.save();
    await writeFeeHistory(this.feesPath, mempool.finishFees(), deps.logger);
  }
}
