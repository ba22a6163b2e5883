/**
 * The composition root: the one place where the services are made and wired, in the order in which they start; they
 * stop in the reverse order. Holds no rule and no protocol.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { importBlockFile } from '../chain/blockImporter.js';
import type { Chain } from '../chain/chain.js';
import { openChain, type OpenedChain } from '../chain/openChain.js';
import { Pruner } from '../chain/pruner.js';
import { verifyChain } from '../chain/verifyChain.js';
import { txIndex } from '../index/txIndex.js';
import { loadNative, nativeUnavailableReason } from '../native/binding.js';
import { RpcDispatcher } from '../rpc/dispatch.js';
import { METHODS } from '../rpc/methodTable.js';
import { MethodTable } from '../rpc/table.js';
import { hashFromHex, hashToHex } from '../util/bytes.js';
import type { Logger, LogControl } from '../util/logging.js';
import { AdjustedClock } from './clock.js';
import type { LoadedOptions } from './options.js';
import { programVersion } from './optionsHelp.js';
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
  /** Named points of flushes, where tests kill the process. */
  onPoint?: (name: string) => void;
}

type Closer = () => Promise<void> | void;

/** Starts a node. Rejects with `StartError`, `FolderError` or `ServerStartError` when it cannot; all is closed then. */
export async function startNode(loaded: LoadedOptions, deps: NodeDeps): Promise<NodeHandle> {
  const closers: Closer[] = [];
  const stopAll = async (): Promise<void> => {
    for (let close = closers.pop(); close; close = closers.pop()) await close();
  };
  try {
    return await start(loaded, deps, closers, stopAll);
  } catch (error) {
    await stopAll();
    throw error;
  }
}

async function start(
  loaded: LoadedOptions,
  deps: NodeDeps,
  closers: Closer[],
  stopAll: () => Promise<void>,
): Promise<NodeHandle> {
  const { options, derived, params, paths, network } = loaded;
  const { logger } = deps;
  const startTimeSec = Math.floor(Date.now() / 1000);
  mkdirSync(paths.networkDir, { recursive: true });
  await writeFile(paths.pidFile, `${process.pid}\n`);
  closers.push(() => rm(paths.pidFile, { force: true }));
  logger.info(`lbcnode version ${programVersion()} on ${network}, data in ${paths.networkDir}`);
  for (const note of loaded.notes) logger.info(note);
  for (const warning of loaded.warnings) logger.warn(warning);
  startNative(loaded, logger);

  const clock = new AdjustedClock(options.mocktime);
  const nodeServices = makeServices({ loaded, clock, startTimeSec, deps });
  const dispatcher = new RpcDispatcher(
    { deprecated: new Set(options.deprecatedrpc) },
    {
      table: new MethodTable(METHODS),
      services: nodeServices.services,
      logger,
      onException: (error, method) => {
        if (isFatal(error)) deps.onFatal(error);
        else
          logger.warn(
            `${method} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
          );
      },
    },
  );
  if (options.server) {
    // Loaded only when it is wanted: the HTTP stack is a third of the start.
    const { RpcHttpServer } = await import('../server/httpServer.js');
    const server = new RpcHttpServer(
      {
        auth: {
          user: options.rpcuser,
          password: options.rpcpassword,
          rpcAuth: options.rpcauth,
          cookieFile: paths.cookieFile,
        },
        port: options.rpcport ?? params.rpcPort,
        binds: options.rpcbind,
        allowIps: loaded.isSet('rpcallowip') ? options.rpcallowip : undefined,
        timeoutSec: options.rpcservertimeout,
        threads: options.rpcthreads,
        workQueueDepth: options.rpcworkqueue,
        logIps: options.logips,
        profile: options.compat as 'documented' | 'lbrycrd' | 'lbcd',
      },
      { dispatcher, logger },
    );
    await server.listen();
    closers.push(() => server.close());
  }

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
      txIndex: options.txindex,
      proofWindow: String(derived.claimProofWindowBlocks),
    },
    supportDelay: supportDelayOf(loaded) === 'proportional' ? 'proportional' : 100,
    proofWindow: derived.claimProofWindowBlocks === Infinity ? 'all' : derived.claimProofWindowBlocks,
    cacheBytes: derived.dbCacheBytes,
    batchBytes: options.dbbatchsize,
    reindex: options.reindex,
    reindexChainstate: options['reindex-chainstate'],
    pruning: derived.prune.kind !== 'off',
    checkpoints: options.checkpoints,
    minimumChainWork:
      options.minimumchainwork === undefined
        ? params.minimumChainWork
        : BigInt(`0x${options.minimumchainwork.replace(/^0x/, '')}`),
    assumeValid: assumeValidOf(loaded),
    maxTipAgeSec: options.maxtipage,
    stopAtHeight: options.stopatheight,
    onStopHeight: deps.requestStop,
    onFatal: deps.onFatal,
    adjustedTimeSec: () => clock.nowSec(),
    contributors: options.txindex ? [txIndex] : [],
    onChain: (reader) => nodeServices.follow(reader),
    signal: deps.signal,
    log: logger,
    ...(deps.onPoint ? { onPoint: deps.onPoint } : {}),
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
        'Corrupted block database detected. Restart with -reindex or -reindex-chainstate to rebuild it.',
      );
    }
  }
  watchTip(opened, logger);

  dispatcher.setWarmupStatus('Importing blocks...');
  await importFiles(opened, loaded, logger, deps.signal);
  await nodeServices.load(deps.onFatal);
  dispatcher.finishWarmup();
  const { headers } = chain.index;
  if (chain.height >= 0)
    logger.info(`best block ${hashToHex(headers.hash(chain.tip))} at height ${chain.height}`);
  return { chain, stop: stopAll };
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
  native.setSignatureCacheBytes(loaded.options.maxsigcachesize << 20);
  logger.info(
    `native addon: libsecp256k1 ${native.secp256k1}, SHA-256 ${native.sha256Implementation}, ${loaded.derived.scriptThreads} verification threads`,
  );
}

function supportDelayOf(loaded: LoadedOptions): string {
  const given = loaded.options.supportdelay;
  if (loaded.network !== 'regtest') return 'proportional';
  return given ?? '100';
}

function assumeValidOf(loaded: LoadedOptions): Buffer | null {
  const given = loaded.options.assumevalid;
  if (given === undefined) return loaded.params.assumeValid;
  const digits = given.replace(/^0x/, '');
  if (/^0*$/.test(digits)) return null;
  return hashFromHex(digits.padStart(64, '0'));
}

/** Bugs and broken environments must stop the node; everything else is an answer's own failure. */
function isFatal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (['AssertionError', 'BlockFileError', 'DiskSpaceError'].includes(error.name)) return true;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && (code.startsWith('LEVEL_') || code === 'ENOSPC' || code === 'EIO');
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

/** `-loadblock`, and a `bootstrap.dat` in the data folder, which is renamed once it is done. */
async function importFiles(
  opened: OpenedChain,
  loaded: LoadedOptions,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const { chain, flusher, timers } = opened;
  const bootstrap = `${loaded.paths.networkDir}/bootstrap.dat`;
  const files = [...(existsSync(bootstrap) ? [bootstrap] : []), ...loaded.options.loadblock];
  for (const file of files) {
    const readable = await open(file, 'r').catch(() => null);
    if (!readable) {
      logger.warn(`Could not open blocks file ${file}`);
      continue;
    }
    await readable.close();
    logger.info(`Importing blocks file ${file}...`);
    const began = performance.now();
    chain.importing = true;
    const { stored, read } = await importBlockFile(chain, file, {
      magic: loaded.params.magic,
      log: logger,
      signal,
      describeCache: () => `cache ${(flusher.usageBytes / (1 << 20)).toFixed(0)} MiB`,
    });
    chain.importing = false;
    const seconds = (performance.now() - began) / 1000;
    logger.info(`Imported ${stored} new of ${read} blocks of ${basename(file)} in ${seconds.toFixed(2)} s`);
    if (logger.willLog('bench')) {
      const report = {
        blocks: read,
        height: chain.height,
        transactions: chain.index.headers.chainTxCount(chain.tip),
        inputs: timers.inputs,
        seconds,
        steps: timers.snapshot(),
      };
      logger.debug('bench', `Import report: ${JSON.stringify(report)}`);
    }
    if (file === bootstrap) {
      const { rename } = await import('node:fs/promises');
      await rename(bootstrap, `${bootstrap}.old`);
    }
  }
}
