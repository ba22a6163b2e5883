/**
 * The composition root: creates and connects all services in the order of their start, and stops them in reverse order.
 * Rules and protocols are in other modules; larger steps of the start are in `start/`.
 */
import type { Chain } from '../chain/chain.js';
import { CLAIM_INDEX_NAME } from '../index/claims/claimIndex.js';
import { PastWalk } from '../index/claims/pastWalk.js';
import { hashToHex } from '../util/bytes.js';
import { programVersion } from '../util/project.js';
import { ThreadMemory } from '../util/threadMemory.js';
import type { Wallets } from '../wallet/wallets.js';
import { AdjustedClock } from './clock.js';
import type { RpcPlace } from './display/firstSteps.js';
import { shareConnections, systemDescriptorLimit } from './options/descriptors.js';
import type { LoadedOptions } from './options/options.js';
import { startNotifications } from './services/notifications.js';
import { peerSettings } from './services/peerSettings.js';
import { wantedConnections } from './services/rpcServers.js';
import { makeServices } from './services/services.js';
import { Answering } from './start/answering.js';
import { startChain, type StartedChain } from './start/chainStart.js';
import { CloseStack, errorText } from './start/closeStack.js';
import { IMPORT_ENDED, importBlocks } from './start/importFiles.js';
import { loadNative } from '../native/binding.js';
import { startNative } from './start/nativeStart.js';
import { writePidFile } from './start/pidFile.js';
import { HeapTrim } from './watch/heapTrim.js';
import { chooseMappedAllocations } from './watch/mappedAllocations.js';
import { collectWhenIdle } from '../util/memory/idleCollection.js';
import { keepNewSpaceDuringStart } from '../util/memory/startNewSpace.js';
import { StartError, type NodeDeps, type StartContext } from './start/startContext.js';

/** Indexes that must be at the tip before the hub gives correct responses. */
const HUB_INDEXES: readonly string[] = ['txindex', 'addressindex', 'claimindex'];

export interface NodeHandle {
  readonly chain: Chain;
  /** Bound addresses of the RPC servers. */
  readonly rpcPlaces: readonly RpcPlace[];
  /** Resolves when all files to be imported are read, or the import has been aborted. */
  readonly imported: Promise<void>;
  /** Stops all services in reverse order. Resolves when all data is on disk. */
  stop(): Promise<void>;
}

const importHub = () => import('./services/hubService.js');
type HubStart = Awaited<ReturnType<typeof importHub>>;

/**
 * Starts a node. The caller must hold the lock of the data folder (`lockFolder`). Rejects with `StartError`, `FolderError`
 * or `ServerStartError` after it has closed all services that it had started.
 */
export async function startNode(loaded: LoadedOptions, deps: NodeDeps): Promise<NodeHandle> {
  const closers = new CloseStack();
  try {
    return await new NodeStart(loaded, deps, closers).run();
  } catch (error) {
    await closers
      .close()
      .catch((also: unknown) => deps.logger.error(`An error occurred while stopping: ${errorText(also)}`));
    throw error;
  }
}

/** One start of a node, as a series of steps. */
class NodeStart {
  private readonly loaded: LoadedOptions;
  private readonly deps: NodeDeps;
  private readonly closers: CloseStack;
  private readonly startTimeSec = Math.floor(Date.now() / 1000);
  private readonly giveUp = new AbortController();
  private readonly signal: AbortSignal;
  /** Maximum number of concurrent hub clients. */
  private hubSessions = 0;
  private wallets: Wallets | null = null;
  private isImporting = false;

  constructor(loaded: LoadedOptions, deps: NodeDeps, closers: CloseStack) {
    this.loaded = loaded;
    this.deps = deps;
    this.closers = closers;
    this.signal = AbortSignal.any([deps.signal, this.giveUp.signal]);
  }

  private readonly warn = (message: string): void => {
    this.deps.logger.warn(message);
    this.deps.showWarning?.(message);
  };

  async run(): Promise<NodeHandle> {
    const { loaded, deps, signal } = this;
    const endStart = keepNewSpaceDuringStart();
    this.closers.push(endStart);
    const hub = await this.begin();
    const { context, answering } = await this.openServers();
    const started = await startChain(context, answering);
    const { chain } = started.opened;
    const native = loadNative();
    if (native !== null) chooseMappedAllocations(chain.events, native);
    const importing = importBlocks(started.opened, loaded, deps.logger, signal);
    this.isImporting = importing !== null;
    const imported = importing?.then(() => this.afterImport(context, chain)).catch(deps.onFatal);
    const handle = this.handleOf(chain, answering, imported ?? Promise.resolve());
    await Promise.race([handle.imported, firstTip(chain)]);
    if (chain.height >= 0)
      deps.logger.info(
        `best block ${hashToHex(chain.index.headers.hash(chain.tip))} at height ${chain.height}`,
      );
    // The start was aborted, so services may be missing and the remaining steps would fail.
    if (signal.aborted) return handle;
    if (importing === null) {
      answering.dispatcher.setWarmupStatus('Loading mempool...');
      await context.parts.load(deps.onFatal);
    }
    await this.openSearch(context, answering);
    await this.openWallets(context, answering);
    if (signal.aborted) return handle;
    await this.connect(context, answering);
    answering.dispatcher.finishWarmup();
    this.startBackground(started);
    if (hub !== null) await this.startHub(hub, context, answering, started);
    answering.closeBeforeChain();
    endStart();
    return handle;
  }

  /**
   * Steps before any service is opened: writes the PID file, logs warnings, loads the addon. Returns the hub module if the
   * hub is enabled.
   */
  private async begin(): Promise<HubStart | null> {
    const { loaded, deps, closers } = this;
    const { logger } = deps;
    await writePidFile(loaded.paths.pidFile, closers, this.warn);
    logger.info(
      `lbcnode version ${programVersion()} on ${loaded.network}, data in ${loaded.paths.networkDir}`,
    );
    for (const note of loaded.notes) logger.debug('net', note);
    for (const warning of loaded.warnings) logger.warn(warning);
    for (const hint of loaded.hints) logger.info(hint);
    const hub = loaded.options.hub ? await importHub() : null;
    hub?.checkHubOptions(loaded, (text) => logger.warn(text));
    closers.push(collectWhenIdle());
    const native = await startNative(loaded, logger, deps.signal);
    if (native !== null) {
      const trim = new HeapTrim(native);
      closers.push(() => trim.stop());
    }
    return hub;
  }

  /** Opens the RPC servers and their context, so that calls are answered during the warm-up. */
  private async openServers(): Promise<{ context: StartContext; answering: Answering }> {
    const { loaded, deps, closers, warn, signal, startTimeSec } = this;
    const { logger } = deps;
    const clock = new AdjustedClock(loaded.options.mocktime);
    const descriptorLimit = systemDescriptorLimit();
    const peerOptions = await peerSettings(loaded, { warn, descriptorLimit });
    const { maxConnections } = peerOptions;
    logger.info(
      `Using at most ${maxConnections} automatic connections (${descriptorLimit} file descriptors available)`,
    );
    const share = shareConnections(wantedConnections(loaded), descriptorLimit, maxConnections, warn);
    this.hubSessions = share.hub;
    const notifications = await startNotifications(loaded, logger, share.webSockets);
    closers.push(() => notifications.close());
    const { zmqNotifiers } = notifications;
    const threads = new ThreadMemory();
    closers.push(() => threads.close());
    const parts = makeServices({
      loaded,
      clock,
      startTimeSec,
      peerOptions,
      zmqNotifiers,
      threads,
      warn,
      deps,
    });
    const context = { loaded, deps, closers, clock, parts, warn, signal };
    return { context, answering: await Answering.open({ ...context, notifications, share }) };
  }

  private async afterImport({ parts }: StartContext, chain: Chain): Promise<void> {
    await parts.load(this.deps.onFatal);
    this.isImporting = false;
    // Unconfirmed wallet transactions may have been rejected while blocks were missing, so they are submitted to the
    // mempool again.
    await this.wallets?.reaccept();
    if (!this.signal.aborted) this.deps.logger.info(`${IMPORT_ENDED}, the tip is at height ${chain.height}`);
  }

  private handleOf(chain: Chain, answering: Answering, imported: Promise<void>): NodeHandle {
    const { closers } = this;
    closers.push(() => {
      this.giveUp.abort();
      return imported;
    });
    return {
      chain,
      rpcPlaces: answering.server?.addresses() ?? [],
      imported,
      stop() {
        answering.isStopping = true;
        return closers.close();
      },
    };
  }

  private async openSearch({ loaded, parts }: StartContext, { metrics }: Answering): Promise<void> {
    if (!loaded.options.claimsearch) return;
    const search = await parts.openSearch();
    this.closers.push(() => search.close());
    if (parts.services.claimSearch) metrics?.followSearch(parts.services.claimSearch);
  }

  private async openWallets({ loaded, parts }: StartContext, answering: Answering): Promise<void> {
    if (loaded.options.disablewallet) return;
    const beganWhileImporting = this.isImporting;
    const openWallets = await parts.openWallets(this.deps.onFatal, (status) =>
      answering.dispatcher.setWarmupStatus(status),
    );
    this.closers.push(() => openWallets.close());
    if (this.signal.aborted) return;
    this.wallets = openWallets;
    if (beganWhileImporting && !this.isImporting) await openWallets.reaccept();
    answering.notifications.followWallets(openWallets);
  }

  /** Starts the peer network. Rejects with `StartError` if the node cannot listen on any address. */
  private async connect({ parts }: StartContext, answering: Answering): Promise<void> {
    const { deps, closers } = this;
    answering.dispatcher.setWarmupStatus('Starting network threads...');
    const network = await parts.connect(deps.onFatal);
    closers.push(() => network.stop());
    answering.metrics?.followPeers(network.net);
    for (const failure of network.failures) deps.logger.warn(failure);
    if (!network.isDeaf) return;
    throw new StartError(
      `Failed to listen on any port. Use -listen=0 if you want this, or another port with -port=<port>. ${network.failures.join(' ')}`,
    );
  }

  /** Starts the background tasks after the node is ready. */
  private startBackground({ opened, fill, validation }: StartedChain): void {
    const { loaded, deps, closers } = this;
    fill.start(deps.onFatal);
    validation?.start();
    if (!loaded.options.claimindex) return;
    const isSynced = (): boolean =>
      fill.statuses().some(({ name, synced }) => name === CLAIM_INDEX_NAME && synced);
    const pastWalk = new PastWalk({ chain: opened.chain, isSynced, log: deps.logger });
    pastWalk.start(deps.onFatal);
    closers.push(() => pastWalk.stop());
  }

  private async startHub(
    { startHub }: HubStart,
    { loaded, parts }: StartContext,
    { rpc, metrics }: Answering,
    { opened, fill }: StartedChain,
  ): Promise<void> {
    const { claimIndex, claimSearch } = parts.services;
    const hub = await startHub(loaded, {
      node: parts.services,
      claims: claimIndex && { index: claimIndex, search: claimSearch, rules: opened.claims.rules },
      log: this.deps.logger,
      isReady: () =>
        (loaded.params.name === 'regtest' || !opened.chain.isInitialDownload()) &&
        fill.statuses().every(({ name, synced }) => synced || !HUB_INDEXES.includes(name)),
      onException: (error, method) => rpc.onException(error, `hub: ${method}`),
      maxSessions: this.hubSessions,
    });
    parts.showHub(hub);
    this.closers.push(() => hub.close());
    metrics?.followHub(hub);
  }
}

/** Resolves when the chain has a tip. */
function firstTip(chain: Chain): Promise<void> {
  if (chain.height >= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const off = chain.events.on('tipChanged', () => {
      off();
      resolve();
    });
  });
}
