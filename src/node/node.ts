/**
 * The composition root: the one place where the services are made and wired, in the order in which they start; they
 * stop in the reverse order. Holds no rule and no protocol.
 */
import type { Chain } from '../chain/chain.js';
import type { ChainReader } from '../chain/chainReader.js';
import { checkBlockIndex } from '../chain/checkBlockIndex.js';
import { openChain, type OpenedChain } from '../chain/openChain.js';
import { Pruner } from '../chain/pruner.js';
import { verifyChain } from '../chain/verifyChain.js';
import { addressIndex } from '../index/addressIndex.js';
import { txIndex } from '../index/txIndex.js';
import { loadNative, nativeUnavailableReason } from '../native/binding.js';
import type { NetworkParams } from '../params/network.js';
import { RpcDispatcher, type RpcDispatcherDeps } from '../rpc/dispatch.js';
import { METHODS } from '../rpc/methodTable.js';
import { MethodTable } from '../rpc/table.js';
import type { HttpServerDeps, RpcHttpServer } from '../server/httpServer.js';
import { AssertionError } from '../util/assert.js';
import { hashToHex } from '../util/bytes.js';
import type { Logger, LogControl } from '../util/logging.js';
import { AdjustedClock } from './clock.js';
import { CloseStack, errorText } from './closeStack.js';
import { simulatedCrashes } from './crashSimulation.js';
import { httpConnections, systemDescriptorLimit } from './descriptors.js';
import { httpRoutes, makeMetrics } from './httpRoutes.js';
import { importFiles } from './importFiles.js';
import { startNotifications } from './notifications.js';
import { notifyBlocks } from './notify.js';
import type { LoadedOptions } from './options.js';
import { programVersion } from '../util/project.js';
import { peerSettings } from './peerSettings.js';
import { writePidFile } from './pidFile.js';
import { makeServices } from './services.js';

export interface NodeHandle {
  readonly chain: Chain;
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
  for (const note of loaded.notes) logger.info(note);
  for (const warning of loaded.warnings) logger.warn(warning);
  startNative(loaded, logger);

  const clock = new AdjustedClock(options.mocktime);
  const descriptorLimit = systemDescriptorLimit();
  const peerOptions = await peerSettings(loaded, { warn, descriptorLimit });
  const { maxConnections } = peerOptions;
  logger.info(
    `Using at most ${maxConnections} automatic connections (${descriptorLimit} file descriptors available)`,
  );
  const notifications = await startNotifications(loaded, logger);
  closers.push(() => notifications.close());
  const { zmqNotifiers } = notifications;
  const nodeServices = makeServices({ loaded, clock, startTimeSec, peerOptions, zmqNotifiers, warn, deps });
  const metrics = await makeMetrics(loaded);
  let stopping = false;
  const rpc: RpcDispatcherDeps = {
    table: new MethodTable(METHODS),
    services: nodeServices.services,
    logger,
    onException: (error, method) => {
      // What was cut off by the stop finds the database closed.
      if (isFatal(error) && !stopping) deps.onFatal(error);
      else
        logger.warn(
          `${method} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        );
    },
    ...(metrics ? { onCall: metrics.onCall } : {}),
  };
  const dispatcher = new RpcDispatcher({ deprecated: new Set(options.deprecatedrpc) }, rpc);
  let chainReader: ChainReader | null = null;
  const server = options.server
    ? await startServer(
        loaded,
        httpConnections(options.rpcmaxconnections, descriptorLimit, maxConnections, warn),
        {
          dispatcher,
          logger,
          ...(notifications.webSockets ? { webSockets: notifications.webSockets } : {}),
          extraRoutes: await httpRoutes(loaded, {
            ...rpc,
            dispatcher,
            metrics,
            chain: () => chainReader,
            isStopping: () => deps.signal.aborted,
          }),
        },
      )
    : null;
  closers.push(() => server?.close());

  const onPoint = deps.onPoint ?? simulatedCrashes(options.dbcrashratio, { log: logger });
  dispatcher.setWarmupStatus('Loading block index...');
  const opened = await openChain({
    folder: paths.networkDir,
    blocksFolder: paths.blocksDir,
    maxBlockFileBytes: options.maxblockfilesize,
    params,
    identity: {
      network: params.name,
      supportDelay: supportDelayOf(loaded),
      claimRules: JSON.stringify(params.claimForks),
      scriptForks: scriptForksOf(params),
      txIndex: options.txindex,
      addressIndex: options.addressindex,
      proofWindow: String(derived.claimProofWindowBlocks),
    },
    supportDelay: supportDelayOf(loaded) === 'proportional' ? 'proportional' : 100,
    proofWindow: derived.claimProofWindowBlocks === Infinity ? 'all' : derived.claimProofWindowBlocks,
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
    onStopHeight: deps.requestStop,
    onFatal: deps.onFatal,
    adjustedTimeSec: () => clock.adjustedSec(),
    contributors: [...(options.txindex ? [txIndex] : []), ...(options.addressindex ? [addressIndex] : [])],
    onChain: (reader) => {
      const mempool = nodeServices.follow(reader);
      notifications.follow({ chain: reader.chain, mempool });
      metrics?.follow(reader, mempool);
      chainReader = reader;
      if (options.checkblockindex ?? params.defaultConsistencyChecks)
        watchBlockIndex(reader.chain, loaded, logger);
    },
    signal: deps.signal,
    showStatus: (status) => dispatcher.setWarmupStatus(status),
    log: logger,
    warn,
    ...(onPoint ? { onPoint } : {}),
  });
  closers.push(() => opened.close());
  closers.push(() => nodeServices.save());
  const { chain } = opened;
  const pruner = new Pruner(
    chain,
    opened.flusher,
    { targetBytes: derived.prune.kind === 'automatic' ? derived.prune.targetBytes : null },
    logger,
  );
  nodeServices.attach(opened, derived.prune.kind === 'off' ? null : pruner);
  if (chain.height > 0 && !options.reindex && !options['reindex-chainstate']) {
    dispatcher.setWarmupStatus('Verifying blocks...');
    const problem = await verifyChain(chain, {
      level: options.checklevel,
      blocks: options.checkblocks,
      signal: deps.signal,
    });
    if (problem !== null) {
      logger.warn(problem);
      throw new StartError(
        `Corrupted block database detected: ${problem}. Restart with -reindex to rebuild it from the block files.`,
      );
    }
  }
  if (pruner.automatic && !options.reindex) {
    dispatcher.setWarmupStatus('Pruning blockstore...');
    await pruner.pruneToTarget();
  }
  watchTip(opened, logger);
  notifyBlocks(chain, options.blocknotify, logger);

  dispatcher.setWarmupStatus('Importing blocks...');
  await importFiles(opened, loaded, logger, deps.signal);
  dispatcher.setWarmupStatus('Loading mempool...');
  await nodeServices.load(deps.onFatal);
  dispatcher.setWarmupStatus('Starting network threads...');
  const network = await nodeServices.connect(deps.onFatal);
  closers.push(() => network.stop());
  metrics?.followPeers(network.net);
  for (const failure of network.failures) logger.warn(failure);
  if (network.isDeaf) throw new StartError('Failed to listen on any port. Use -listen=0 if you want this.');
  dispatcher.finishWarmup();
  const { headers } = chain.index;
  if (chain.height >= 0)
    logger.info(`best block ${hashToHex(headers.hash(chain.tip))} at height ${chain.height}`);
  // The server came first, to answer during the warm-up, but no call may find the chain closed.
  closers.push(() => server?.close());
  return {
    chain,
    stop() {
      stopping = true;
      return closers.close();
    },
  };
}

async function startServer(
  { options, params, paths, isSet }: LoadedOptions,
  maxConnections: number,
  deps: HttpServerDeps,
): Promise<RpcHttpServer> {
  // Loaded only when it is wanted: the HTTP stack is a third of the start.
  const { RpcHttpServer } = await import('../server/httpServer.js');
  const server = new RpcHttpServer(
    {
      auth: {
        user: options.rpcuser,
        password: options.rpcpassword,
        rpcAuth: options.rpcauth,
        cookieFile: paths.cookieFile,
        cookieFollowsUmask: options.sysperms,
      },
      port: options.rpcport ?? params.rpcPort,
      binds: options.rpcbind,
      allowIps: isSet('rpcallowip') ? options.rpcallowip : undefined,
      timeoutSec: options.rpcservertimeout,
      threads: options.rpcthreads,
      workQueueDepth: options.rpcworkqueue,
      logIps: options.logips,
      maxConnections,
      allowHosts: options.rpcallowhost,
      profile: options.compat as 'documented' | 'lbrycrd' | 'lbcd',
    },
    deps,
  );
  await server.listen();
  return server;
}

function startNative(loaded: LoadedOptions, logger: Logger): void {
  const native = loadNative();
  if (!native) {
    logger.warn(
      `the native addon is not in use (${nativeUnavailableReason()}): signature checks run on one thread instead of ${loaded.derived.scriptThreads}, and parsing and coin lookups in TypeScript; importing blocks takes several times as long.`,
    );
    return;
  }
  native.setVerifyThreads(loaded.derived.scriptThreads);
  native.setSignatureCacheBytes(loaded.derived.signatureCacheBytes);
  logger.info(
    `native addon: libsecp256k1 ${native.secp256k1}, SHA-256 ${native.sha256Implementation}, ${loaded.derived.scriptThreads} verification threads`,
  );
}

function supportDelayOf(loaded: LoadedOptions): string {
  const given = loaded.options.supportdelay;
  if (loaded.network !== 'regtest') return 'proportional';
  return given ?? '100';
}

/**
 * Whether an answer failed for a reason that concerns the whole node: a broken invariant or the database. What cannot
 * be written the chain reports itself; a block that cannot be read is the failure of whoever asked for it.
 */
export function isFatal(error: unknown): boolean {
  if (error instanceof AssertionError) return true;
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && code.startsWith('LEVEL_');
}

/**
 * Checks the block index against itself (`-checkblockindex`): whenever blocks were taken back, and when it has grown by a
 * thirty-second since the last time, so that a block on a long chain costs no more of it than one on a short chain.
 */
function watchBlockIndex(chain: Chain, { params, derived }: LoadedOptions, logger: Logger): void {
  const rules = { genesisHash: params.genesisHash, prunes: derived.prune.kind !== 'off' };
  const checked = { headers: 0, disconnects: 0 };
  chain.afterStep.push(async () => {
    const { index } = chain;
    const { count } = index.headers;
    const { disconnects } = index.active;
    if (disconnects === checked.disconnects && count <= checked.headers + (checked.headers >> 5)) return;
    // On the way to a better branch the tip may be lower than it was.
    if (index.candidates.best() !== chain.tip) return;
    checkBlockIndex(index, rules);
    Object.assign(checked, { headers: count, disconnects });
    logger.debug('bench', () => `Block index checked: ${count} headers`);
  });
}

/** A line of log for each new tip, as the reference writes it; few of them during the initial download. */
function watchTip(opened: OpenedChain, logger: Logger): void {
  const { chain, flusher } = opened;
  const { headers } = chain.index;
  let lastMs = 0;
  chain.events.on('tipChanged', ({ id, height, hash, initialDownload }) => {
    const now = performance.now();
    if (initialDownload && now - lastMs < 5000) return;
    lastMs = now;
    const date = new Date(headers.timeSec(id) * 1000).toISOString().replace('.000', '');
    logger.info(
      `UpdateTip: new best=${hashToHex(hash)} height=${height} version=0x${(headers.version(id) >>> 0).toString(16).padStart(8, '0')} tx=${headers.chainTxCount(id)} date='${date}' cache=${(flusher.usageBytes / (1 << 20)).toFixed(1)}MiB`,
    );
  });
}

/** Fork heights that regtest can change, as text. */
function scriptForksOf({ segwitHeight, bip34Height, bip65Height, bip66Height }: NetworkParams): string {
  return JSON.stringify({ segwit: segwitHeight, bip34: bip34Height, bip65: bip65Height, bip66: bip66Height });
}
