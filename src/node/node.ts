/**
 * The composition root: the one place where the services are made and wired, in the order in which they start; they
 * stop in the reverse order. Holds no rule and no protocol.
 */
import type { Chain } from '../chain/chain.js';
import type { ChainReader } from '../chain/chainReader.js';
import { openChain } from '../chain/open/openChain.js';
import { Pruner } from '../chain/blocks/pruner.js';
import { verifyChain } from '../chain/open/verifyChain.js';
import { MAX_FUTURE_BLOCK_TIME_SEC } from '../consensus/limits.js';
import type { Explorer } from '../explorer/explorer.js';
import { addressIndex } from '../index/addressIndex.js';
import { BackgroundFill } from '../index/backgroundFill.js';
import { TrackedIndex } from '../index/chainIndex.js';
import { filterIndex } from '../index/filterIndex.js';
import { CLAIM_INDEX_NAME, claimIndex } from '../index/claims/claimIndex.js';
import { PastWalk } from '../index/claims/pastWalk.js';
import { spendIndex } from '../index/spendIndex.js';
import { txIndex } from '../index/txIndex.js';
import { RpcDispatcher, type RpcDispatcherDeps } from '../rpc/call/dispatch.js';
import { METHODS } from '../rpc/declare/methodTable.js';
import { MethodTable } from '../rpc/declare/table.js';
import { AssertionError } from '../util/assert.js';
import { hashToHex } from '../util/bytes.js';
import type { Logger, LogControl } from '../util/logging.js';
import { ThreadMemory } from '../util/threadMemory.js';
import type { Wallets } from '../wallet/wallets.js';
import { watchBlockIndex, watchTip } from './watch/chainWatch.js';
import { AdjustedClock } from './clock.js';
import { CloseStack, errorText } from './start/closeStack.js';
import { simulatedCrashes } from './start/crashSimulation.js';
import { shareConnections, systemDescriptorLimit } from './options/descriptors.js';
import { httpRoutes, makeEsplora, makeMetrics } from './services/httpRoutes.js';
import { HeapTrim } from './watch/heapTrim.js';
import type { StatusLine } from './display/console.js';
import type { RpcPlace } from './display/firstSteps.js';
import { ProgressMonitor } from './display/progressMonitor.js';
import { describeFailure } from './log/failure.js';
import { IMPORT_ENDED, importBlocks } from './start/importFiles.js';
import { startNative } from './start/nativeStart.js';
import { startNotifications } from './services/notifications.js';
import { notifyBlocks } from './services/notify.js';
import { folderIdentity, supportDelayOf } from './start/folderIdentity.js';
import type { LoadedOptions } from './options/options.js';
import { programVersion } from '../util/project.js';
import { peerSettings } from './services/peerSettings.js';
import { writePidFile } from './start/pidFile.js';
import { openValidation, snapshotSource } from './start/snapshotStart.js';
import { startServer, startWalletServer, wantedConnections } from './services/rpcServers.js';
import { makeAnswerCache, makeServices } from './services/services.js';

/** Indexes that must be at the tip for correct answers to clients. */
const HUB_INDEXES: readonly string[] = ['txindex', 'addressindex', 'claimindex'];

export interface NodeHandle {
  readonly chain: Chain;
  /** Addresses of the RPC servers. */
  readonly rpcPlaces: readonly RpcPlace[];
  /** Resolves when all is read that was to be imported from files, or nothing more will be. */
  readonly imported: Promise<void>;
  /** Stops everything in order. Resolves when all is on disk. */
  stop(): Promise<void>;
}

/** Something the operator must mend before the node can start; printed as `Error: …`. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

export interface NodeDeps {
  logger: Logger & LogControl;
  /** Asks the program to stop; it calls `stop` of the handle. */
  requestStop: () => void;
  /** A bug or a broken environment: the program must stop and say so. */
  onFatal: (error: unknown) => void;
  /** Aborted when the program shall stop while it is still starting. */
  signal: AbortSignal;
  /** Shows the operator a warning beside the log. Those of `LoadedOptions` the program has shown before. */
  showWarning?: (message: string) => void;
  /** Shows how far long work is, in a line that renews itself. */
  show?: (status: StatusLine | null) => void;
  /** A line of log on how far it is. */
  logProgress?: (line: string) => void;
  /** Named points of flushes, where tests kill the process. */
  onPoint?: (name: string) => void;
}

/**
 * Starts a node. The caller holds the lock of its folder (`lockFolder`). Rejects with `StartError`, `FolderError` or
 * `ServerStartError` when it cannot; all is closed then.
 */
export async function startNode(loaded: LoadedOptions, deps: NodeDeps): Promise<NodeHandle> {
  const closers = new CloseStack();
  try {
    return await start(loaded, deps, closers);
  } catch (error) {
    await closers
      .close()
      .catch((also: unknown) => deps.logger.error(`Stopping failed too: ${errorText(also)}`));
    throw error;
  }
}

async function start(loaded: LoadedOptions, deps: NodeDeps, closers: CloseStack): Promise<NodeHandle> {
  const { options, derived, params, paths } = loaded;
  const { logger } = deps;
  const startTimeSec = Math.floor(Date.now() / 1000);
  const warn = (message: string): void => {
    logger.warn(message);
    deps.showWarning?.(message);
  };
  await writePidFile(paths.pidFile, closers, warn);
  logger.info(`lbcnode version ${programVersion()} on ${loaded.network}, data in ${paths.networkDir}`);
  for (const note of loaded.notes) logger.debug('net', note);
  for (const warning of loaded.warnings) logger.warn(warning);
  for (const hint of loaded.hints) logger.info(hint);
  const hubService = options.hub ? await import('./services/hubService.js') : null;
  hubService?.checkHubOptions(loaded, (text) => logger.warn(text));
  const native = await startNative(loaded, logger, deps.signal);
  if (native !== null) {
    const trim = new HeapTrim(native);
    closers.push(() => trim.stop());
  }

  const clock = new AdjustedClock(options.mocktime);
  const descriptorLimit = systemDescriptorLimit();
  const peerOptions = await peerSettings(loaded, { warn, descriptorLimit });
  const { maxConnections } = peerOptions;
  logger.info(
    `Using at most ${maxConnections} automatic connections (${descriptorLimit} file descriptors available)`,
  );
  const share = shareConnections(wantedConnections(loaded), descriptorLimit, maxConnections, warn);
  const notifications = await startNotifications(loaded, logger, share.webSockets);
  closers.push(() => notifications.close());
  const { zmqNotifiers } = notifications;
  const threads = new ThreadMemory();
  closers.push(() => threads.close());
  const nodeServices = makeServices({
    loaded,
    clock,
    startTimeSec,
    peerOptions,
    zmqNotifiers,
    threads,
    warn,
    deps,
  });
  const answers = makeAnswerCache(options.rpccache, nodeServices.services);
  nodeServices.showAnswers(answers);
  const metrics = await makeMetrics(loaded, nodeServices.services);
  if (answers) metrics?.measureAnswers(answers, nodeServices.services.blockTexts);
  let stopping = false;
  const rpc: RpcDispatcherDeps = {
    table: new MethodTable(
      options.disablewallet ? METHODS.filter(({ needsWallet }) => !needsWallet) : METHODS,
    ),
    services: nodeServices.services,
    logger,
    onException: (error, method) => {
      // What was cut off by the stop finds the database closed.
      if (isFatal(error) && !stopping) deps.onFatal(error);
      else logger.warn(`${method} failed: ${failedCall(error, paths.networkDir)}`);
    },
    ...(metrics ? { onCall: metrics.onCall } : {}),
    ...(answers ? { answers } : {}),
  };
  const dispatcher = new RpcDispatcher({ deprecated: new Set(options.deprecatedrpc) }, rpc);
  notifications.answerBy({ dispatcher, services: nodeServices.services });
  let chainReader: ChainReader | null = null;
  let explorer: Explorer | null = null;
  const esplora = await makeEsplora(loaded, { ...rpc, dispatcher });
  const server = options.server
    ? await startServer(loaded, share.httpPerServer, {
        dispatcher,
        logger,
        ...(notifications.upgrades ? { webSockets: notifications.upgrades } : {}),
        ...(esplora ? { directPaths: esplora } : {}),
        extraRoutes: await httpRoutes(loaded, {
          ...rpc,
          dispatcher,
          metrics,
          chain: () => chainReader,
          hub: () => nodeServices.services.hub?.status ?? null,
          explorer: () => explorer,
          indexes: () => nodeServices.services.indexes(),
          outage: () => nodeServices.outage(),
          isStopping: () => deps.signal.aborted,
        }),
      })
    : null;
  closers.push(() => server?.close());
  explorer = options.explorer
    ? await (
        await import('./services/explorerService.js')
      ).startExplorer(loaded, {
        dispatcher,
        table: rpc.table,
        methods: METHODS,
        logger,
        stopping: deps.signal,
        mempoolChanges: () => nodeServices.services.mempool.changeCount,
      })
    : null;
  if (explorer) metrics?.followExplorer(explorer);
  closers.push(() => explorer?.close());
  const walletServer =
    server && (await startWalletServer(loaded, share.httpPerServer, server, { ...rpc, leader: dispatcher }));
  closers.push(() => walletServer?.close());

  const giveUp = new AbortController();
  const signal = AbortSignal.any([deps.signal, giveUp.signal]);
  const supportDelay = supportDelayOf(loaded) === 'proportional' ? 'proportional' : 100;
  const proofWindow = derived.claimProofWindowBlocks === Infinity ? 'all' : derived.claimProofWindowBlocks;
  const indexes = [
    // First, for it reads stretches of rows: what the others write would have to be sorted for that.
    ...(options.claimindex
      ? [
          claimIndex({
            params,
            rules: { ...params.claimForks, supportDelay },
            window: proofWindow,
            tipHeight: () => chainReader?.chain.height ?? -1,
          }),
        ]
      : []),
    ...(options.txindex ? [txIndex] : []),
    ...(options.spendindex ? [spendIndex] : []),
    ...(options.addressindex ? [addressIndex] : []),
    ...(derived.keepsBlockFilters ? [filterIndex] : []),
  ].map((index) => new TrackedIndex(index));
  const onPoint = deps.onPoint ?? simulatedCrashes(options.dbcrashratio, { log: logger });
  dispatcher.setWarmupStatus('Loading block index...');
  const opened = await openChain({
    folder: paths.networkDir,
    blocksFolder: paths.blocksDir,
    maxBlockFileBytes: options.maxblockfilesize,
    params,
    identity: folderIdentity(loaded),
    supportDelay,
    proofWindow,
    cacheBytes: derived.dbCacheBytes,
    claimCacheBytes: derived.claimTrieCacheBytes,
    batchBytes: options.dbbatchsize,
    compacts: options.forcecompactdb,
    reindex: options.reindex,
    reindexChainstate: options['reindex-chainstate'],
    pruning: derived.prune.kind !== 'off',
    checkpoints: options.checkpoints,
    minimumChainWork: derived.minimumChainWork,
    assumeValid: derived.assumeValid,
    maxTipAgeSec: options.maxtipage,
    stopAtHeight: options.stopatheight,
    snapshot: snapshotSource(loaded),
    onSnapshotProgress: (text) => dispatcher.setWarmupStatus(text),
    onStopHeight: deps.requestStop,
    onFatal: deps.onFatal,
    adjustedTimeSec: () => clock.adjustedSec(),
    contributors: indexes,
    onChain: (reader) => {
      const { coins, store } = reader.chain.deps;
      new ProgressMonitor(
        {
          show: deps.show ?? (() => undefined),
          log: deps.logProgress ?? ((line) => logger.info(line)),
          tell: (line) => dispatcher.setWarmupStatus(line),
        },
        {
          params,
          nowSec: () => clock.nowSec(),
          cacheBytes: () => coins.usageBytes + store.dirtyBytes,
        },
      ).follow(reader);
      const mempool = nodeServices.follow(reader);
      notifications.follow({ chain: reader.chain, mempool });
      esplora?.follow({ chain: reader.chain, mempool });
      metrics?.follow(reader, mempool);
      chainReader = reader;
      explorer?.follow(reader);
      if (options.checkblockindex ?? params.defaultConsistencyChecks)
        watchBlockIndex(reader.chain, loaded, logger);
    },
    signal,
    log: logger,
    warn,
    ...(onPoint ? { onPoint } : {}),
  });
  closers.push(() => opened.close());
  closers.push(() => nodeServices.save());
  const { chain } = opened;
  const fill = new BackgroundFill({ chain, flusher: opened.flusher, log: logger, warn }, indexes);
  await fill.prepare();
  closers.push(() => fill.stop());
  const validation = await openValidation(loaded, opened, {
    log: logger,
    warn,
    onFatal: deps.onFatal,
    onPassed: () => fill.resume(),
    adjustedTimeSec: () => clock.adjustedSec(),
    onPoint: onPoint ?? (() => undefined),
  });
  if (validation !== null) {
    nodeServices.showValidation(validation);
    closers.push(() => validation.stop());
  }
  const pruner = new Pruner(
    chain,
    opened.flusher,
    {
      targetBytes: derived.prune.kind === 'automatic' ? derived.prune.targetBytes : null,
      neededFrom: () => Math.min(fill.neededFrom(), validation?.neededFrom ?? Infinity),
    },
    logger,
  );
  nodeServices.attach(opened, derived.prune.kind === 'off' ? null : pruner, fill);
  metrics?.followIndexes(fill);
  if (chain.height > 0 && !options.reindex && !options['reindex-chainstate']) {
    refuseFutureTip(chain, clock);
    dispatcher.setWarmupStatus('Verifying blocks...');
    const problem = await verifyChain(chain, {
      level: options.checklevel,
      blocks: options.checkblocks,
      signal,
    });
    if (problem !== null) {
      logger.warn(problem);
      throw new StartError(
        `Corrupted block database detected: ${problem}. Restart with -reindex to rebuild it from the block files.`,
      );
    }
  }
  if (pruner.automatic && opened.rebuild === null) {
    dispatcher.setWarmupStatus('Pruning blockstore...');
    await pruner.pruneToTarget();
  }
  watchTip(opened, logger);
  notifyBlocks(chain, options.blocknotify, logger);

  const loadMempool = (): Promise<void> => nodeServices.load(deps.onFatal);
  let wallets: Wallets | null = null;
  let isImporting = false;
  const afterImport = async (): Promise<void> => {
    await loadMempool();
    isImporting = false;
    // What they have unconfirmed was refused as long as the blocks before it were missing.
    await wallets?.reaccept();
    if (!signal.aborted) logger.info(`${IMPORT_ENDED}, the tip is at height ${chain.height}`);
  };
  const importing = importBlocks(opened, loaded, logger, signal);
  isImporting = importing !== null;
  const imported = importing?.then(afterImport).catch(deps.onFatal) ?? Promise.resolve();
  closers.push(() => {
    giveUp.abort();
    return imported;
  });
  const handle: NodeHandle = {
    chain,
    rpcPlaces: server?.addresses() ?? [],
    imported,
    stop() {
      stopping = true;
      return closers.close();
    },
  };
  await Promise.race([imported, firstTip(chain)]);
  if (chain.height >= 0)
    logger.info(`best block ${hashToHex(chain.index.headers.hash(chain.tip))} at height ${chain.height}`);
  // What is not there after a stop cannot be served.
  if (signal.aborted) return handle;
  if (importing === null) {
    dispatcher.setWarmupStatus('Loading mempool...');
    await loadMempool();
  }
  if (options.claimsearch) {
    const search = await nodeServices.openSearch();
    closers.push(() => search.close());
    if (nodeServices.services.claimSearch) metrics?.followSearch(nodeServices.services.claimSearch);
  }
  if (!options.disablewallet) {
    const beganWhileImporting = isImporting;
    const openWallets = await nodeServices.openWallets(deps.onFatal, (status) =>
      dispatcher.setWarmupStatus(status),
    );
    closers.push(() => openWallets.close());
    if (signal.aborted) return handle;
    wallets = openWallets;
    if (beganWhileImporting && !isImporting) await openWallets.reaccept();
    notifications.followWallets(openWallets);
  }
  dispatcher.setWarmupStatus('Starting network threads...');
  const network = await nodeServices.connect(deps.onFatal);
  closers.push(() => network.stop());
  metrics?.followPeers(network.net);
  for (const failure of network.failures) logger.warn(failure);
  if (network.isDeaf) {
    throw new StartError(
      `Failed to listen on any port. Use -listen=0 if you want this, or another port with -port=<port>. ${network.failures.join(' ')}`,
    );
  }
  dispatcher.finishWarmup();
  fill.start(deps.onFatal);
  validation?.start();
  if (options.claimindex) {
    const isSynced = (): boolean =>
      fill.statuses().some(({ name, synced }) => name === CLAIM_INDEX_NAME && synced);
    const pastWalk = new PastWalk({ chain, isSynced, log: logger });
    pastWalk.start(deps.onFatal);
    closers.push(() => pastWalk.stop());
  }
  if (hubService !== null) {
    const { claimIndex, claimSearch } = nodeServices.services;
    const hub = await hubService.startHub(loaded, {
      node: nodeServices.services,
      claims: claimIndex && { index: claimIndex, search: claimSearch, rules: opened.claims.rules },
      log: logger,
      isReady: () =>
        (params.name === 'regtest' || !chain.isInitialDownload()) &&
        fill.statuses().every(({ name, synced }) => synced || !HUB_INDEXES.includes(name)),
      onException: (error, method) => rpc.onException(error, `hub: ${method}`),
      maxSessions: share.hub,
    });
    nodeServices.showHub(hub);
    closers.push(() => hub.close());
    metrics?.followHub(hub);
  }
  // The server came first, to answer during the warm-up, but no call may find the chain closed.
  closers.push(() => server?.close());
  closers.push(() => walletServer?.close());
  closers.push(() => explorer?.close());
  return handle;
}

/** Resolves once there is a tip. */
function firstTip(chain: Chain): Promise<void> {
  if (chain.height >= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const off = chain.events.on('tipChanged', () => {
      off();
      resolve();
    });
  });
}

/** Throws `StartError` when the tip is further in the future than any block may be. Source: `AppInitMain`. */
function refuseFutureTip({ tip, index }: Chain, clock: AdjustedClock): void {
  if (index.headers.timeSec(tip) <= clock.adjustedSec() + MAX_FUTURE_BLOCK_TIME_SEC) return;
  throw new StartError(
    "The block database contains a block which appears to be from the future. This may be due to your computer's date and time being set incorrectly. Only rebuild the block database if you are sure that your computer's date and time are correct.\nPlease restart with -reindex or -reindex-chainstate to recover.",
  );
}

/**
 * Whether an answer failed for a reason that concerns the whole node: a broken invariant or the database. What cannot
 * be written the chain reports itself; a block that cannot be read is the failure of its caller.
 */
export function isFatal(error: unknown): boolean {
  if (error instanceof AssertionError) return true;
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && code.startsWith('LEVEL_');
}

/** What the log says of a call that failed: only of a bug the place is of use. */
function failedCall(error: unknown, folder: string): string {
  const { text, isBug } = describeFailure(error, folder);
  return isBug && error instanceof Error ? (error.stack ?? text) : text;
}
