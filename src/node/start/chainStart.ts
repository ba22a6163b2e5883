/** Steps of the start that open the chain with its indexes, verify it, and prune it. */
import { Pruner } from '../../chain/blocks/pruner.js';
import type { Chain } from '../../chain/chain.js';
import type { ChainReader } from '../../chain/chainReader.js';
import { openChain, type OpenChainOptions, type OpenedChain } from '../../chain/open/openChain.js';
import { verifyChain } from '../../chain/open/verifyChain.js';
import type { BackgroundValidation } from '../../chain/snapshot/backgroundValidation.js';
import { MAX_FUTURE_BLOCK_TIME_SEC } from '../../consensus/limits.js';
import { addressIndex } from '../../index/addressIndex.js';
import { BackgroundFill } from '../../index/backgroundFill.js';
import { TrackedIndex } from '../../index/chainIndex.js';
import { claimIndex } from '../../index/claims/claimIndex.js';
import { filterIndex } from '../../index/filterIndex.js';
import { spendIndex } from '../../index/spendIndex.js';
import { txIndex } from '../../index/txIndex.js';
import { ProgressMonitor } from '../display/progressMonitor.js';
import type { AdjustedClock } from '../clock.js';
import type { LoadedOptions } from '../options/options.js';
import { watchBlockIndex, watchTip } from '../watch/chainWatch.js';
import { notifyBlocks } from '../services/notify.js';
import type { Answering } from './answering.js';
import { simulatedCrashes } from './crashSimulation.js';
import { folderIdentity, supportDelayOf } from './folderIdentity.js';
import { openValidation, snapshotSource } from './snapshotStart.js';
import { StartError, type StartContext } from './startContext.js';

export interface StartedChain {
  readonly opened: OpenedChain;
  readonly fill: BackgroundFill;
  readonly validation: BackgroundValidation | null;
}

/** Returns the rules of the claim trie: the support delay, and the number of blocks with name proofs. */
function claimRules(loaded: LoadedOptions): Pick<OpenChainOptions, 'supportDelay' | 'proofWindow'> {
  const { claimProofWindowBlocks } = loaded.derived;
  return {
    supportDelay: supportDelayOf(loaded) === 'proportional' ? 'proportional' : 100,
    proofWindow: claimProofWindowBlocks === Infinity ? 'all' : claimProofWindowBlocks,
  };
}

/** Creates the indexes that the options enable. */
function indexesOf(loaded: LoadedOptions, tipHeight: () => number): TrackedIndex[] {
  const { options, params, derived } = loaded;
  const { supportDelay, proofWindow } = claimRules(loaded);
  return [
    // The claim index comes first, because it reads ranges of rows. If other indexes wrote rows before it, these rows
    // would have to be sorted for each range.
    ...(options.claimindex
      ? [
          claimIndex({
            params,
            rules: { ...params.claimForks, supportDelay },
            window: proofWindow,
            tipHeight,
          }),
        ]
      : []),
    ...(options.txindex ? [txIndex] : []),
    ...(options.spendindex ? [spendIndex] : []),
    ...(options.addressindex ? [addressIndex] : []),
    ...(derived.keepsBlockFilters ? [filterIndex] : []),
  ].map((index) => new TrackedIndex(index));
}

/** Returns the options of `openChain` that depend only on the node's options. */
function settingsOf(
  loaded: LoadedOptions,
): Omit<
  OpenChainOptions,
  'onStopHeight' | 'onFatal' | 'adjustedTimeSec' | 'contributors' | 'signal' | 'log'
> {
  const { options, params, derived, paths } = loaded;
  return {
    folder: paths.networkDir,
    blocksFolder: paths.blocksDir,
    maxBlockFileBytes: options.maxblockfilesize,
    params,
    identity: folderIdentity(loaded),
    ...claimRules(loaded),
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
  };
}

/** Subscribes all components that must follow the chain from its first block on. */
function followChain(context: StartContext, answering: Answering, reader: ChainReader): void {
  const { loaded, deps, clock, parts } = context;
  const { coins, store } = reader.chain.deps;
  new ProgressMonitor(
    {
      show: deps.show ?? (() => undefined),
      log: deps.logProgress ?? ((line) => deps.logger.info(line)),
      tell: (line) => answering.dispatcher.setWarmupStatus(line),
    },
    {
      params: loaded.params,
      nowSec: () => clock.nowSec(),
      cacheBytes: () => coins.usageBytes + store.dirtyBytes,
    },
  ).follow(reader);
  answering.follow(reader, parts.follow(reader));
  if (loaded.options.checkblockindex ?? loaded.params.defaultConsistencyChecks)
    watchBlockIndex(reader.chain, loaded, deps.logger);
}

/**
 * Opens, verifies and prunes the chain. Rejects with `StartError`, `FolderError`, `SnapshotError` or `EnvironmentError`.
 */
export async function startChain(context: StartContext, answering: Answering): Promise<StartedChain> {
  const { loaded, deps, closers, clock, warn, signal, parts } = context;
  const { logger, onFatal } = deps;
  const { dispatcher } = answering;
  let chainReader: ChainReader | null = null;
  const indexes = indexesOf(loaded, () => chainReader?.chain.height ?? -1);
  const onPoint = deps.onPoint ?? simulatedCrashes(loaded.options.dbcrashratio, { log: logger });
  const adjustedTimeSec = (): number => clock.adjustedSec();
  dispatcher.setWarmupStatus('Loading block index...');
  const opened = await openChain({
    ...settingsOf(loaded),
    onSnapshotProgress: (text) => dispatcher.setWarmupStatus(text),
    onStopHeight: deps.requestStop,
    onFatal,
    adjustedTimeSec,
    contributors: indexes,
    onChain: (reader) => {
      chainReader = reader;
      followChain(context, answering, reader);
    },
    signal,
    log: logger,
    warn,
    ...(onPoint ? { onPoint } : {}),
  });
  closers.push(() => opened.close());
  closers.push(() => parts.save());
  const { chain } = opened;
  const fill = new BackgroundFill({ chain, flusher: opened.flusher, log: logger, warn }, indexes);
  await fill.prepare();
  closers.push(() => fill.stop());
  const validation = await openValidation(loaded, opened, {
    log: logger,
    warn,
    onFatal,
    onPassed: () => {
      opened.endSharing();
      fill.resume();
    },
    adjustedTimeSec,
    onPoint: onPoint ?? (() => undefined),
  });
  if (validation !== null) {
    parts.showValidation(validation);
    closers.push(() => validation.stop());
  }
  const started = { opened, fill, validation };
  const pruner = attachPruner(context, started);
  answering.metrics?.followIndexes(fill);
  await verify(context, answering, chain);
  if (pruner.automatic && opened.rebuild === null) {
    dispatcher.setWarmupStatus('Pruning blockstore...');
    await pruner.pruneToTarget();
  }
  watchTip(opened, logger);
  notifyBlocks(chain, loaded.options.blocknotify, logger);
  return started;
}

/** Makes the open chain and the pruner available to the RPC methods. */
function attachPruner(
  { loaded, deps, parts }: StartContext,
  { opened, fill, validation }: StartedChain,
): Pruner {
  const { prune } = loaded.derived;
  const pruner = new Pruner(
    opened.chain,
    opened.flusher,
    {
      targetBytes: prune.kind === 'automatic' ? prune.targetBytes : null,
      neededFrom: () => Math.min(fill.neededFrom(), validation?.neededFrom ?? Infinity),
    },
    deps.logger,
  );
  parts.attach(opened, prune.kind === 'off' ? null : pruner, fill);
  return pruner;
}

/** Verifies the last blocks. Skipped if all blocks are about to be connected again. */
async function verify(
  { loaded, deps, clock, signal }: StartContext,
  { dispatcher }: Answering,
  chain: Chain,
): Promise<void> {
  const { options } = loaded;
  if (chain.height <= 0 || options.reindex || options['reindex-chainstate']) return;
  refuseFutureTip(chain, clock);
  dispatcher.setWarmupStatus('Verifying blocks...');
  const problem = await verifyChain(chain, {
    level: options.checklevel,
    blocks: options.checkblocks,
    signal,
  });
  if (problem === null) return;
  deps.logger.warn(problem);
  throw new StartError(
    `Corrupted block database detected: ${problem}. Restart with -reindex to rebuild it from the block files.`,
  );
}

/** Throws `StartError` if the tip's time is further in the future than the rules allow for a block. Source: `AppInitMain`. */
function refuseFutureTip({ tip, index }: Chain, clock: AdjustedClock): void {
  if (index.headers.timeSec(tip) <= clock.adjustedSec() + MAX_FUTURE_BLOCK_TIME_SEC) return;
  throw new StartError(
    "The block database contains a block which appears to be from the future. This may be due to your computer's date and time being set incorrectly. Only rebuild the block database if you are sure that your computer's date and time are correct.\nPlease restart with -reindex or -reindex-chainstate to recover.",
  );
}
