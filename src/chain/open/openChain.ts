/**
 * Opens a data folder and starts its chain: recovers from a crash at any point, reads blocks that are in the files but not
 * in the database, verifies the last blocks, and connects stored blocks that are better than the tip. Source: Core init.cpp
 * (step 7) `ThreadImport`, validation.cpp `LoadBlockIndex`, `ReplayBlocks`.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { NetworkParams } from '../../params/network.js';
import { BlockFiles } from '../../store/files/blockFiles.js';
import { RANGE_KINDS, RECENT_SHARES } from '../../store/claims/rows/claimKeys.js';
import { ClaimStore } from '../../store/claims/claimStore.js';
import { createCoinTable } from '../../store/cache/createCoinTable.js';
import { HeaderTable, NO_HEADER } from '../../store/files/headerTable.js';
import { PREFIX } from '../../store/rows/keys.js';
import { DatabaseError } from '../../store/leveldb/databaseError.js';
import { DatabaseCorruptionError } from '../../store/leveldb/levelDb.js';
import { ForeignDatabaseError, RowStore } from '../../store/rows/rowStore.js';
import { AssertionError } from '../../util/assert.js';
import { hashFromHex, type Bytes } from '../../util/bytes.js';
import {
  environmentError,
  EnvironmentError,
  onFile,
  systemErrorCode,
  systemErrorOfText,
  systemErrorText,
} from '../../util/text/environmentError.js';
import type { Logger } from '../../util/logging.js';
import { BlockIndex } from '../index/blockIndex.js';
import { acceptGenesis, catchUp, rebuild } from './catchUp.js';
import { Chain } from '../chain.js';
import { ChainReader } from '../chainReader.js';
import { ConnectedNotes } from '../blocks/connectedNotes.js';
import { checkDiskSpace } from '../blocks/diskSpace.js';
import { parseChainState, type ChainState } from '../connect/chainState.js';
import { checkBlockFiles } from './checkBlockFiles.js';
import type { OpenedContributor } from '../connect/contributor.js';
import { Flusher } from '../flusher.js';
import { claimFolder, FolderError, type FolderIdentity, IDENTITY_KEY } from './folderIdentity.js';
import {
  beginChainStateReset,
  beginRebuild,
  beginReindex,
  finishChainStateReset,
  finishReindex,
  finishReplacing,
  isMarkedAsOurs,
  markAsOurs,
  type FolderPaths,
} from './folderReset.js';
import { cacheSizes } from './cacheSizes.js';
import { removeGround } from '../snapshot/backgroundValidation.js';
import {
  dropSnapshotLoad,
  finishSnapshotLoad,
  loadSnapshot,
  type SnapshotSource,
} from '../snapshot/loadSnapshot.js';
import {
  dropSnapshotRecord,
  readSnapshotRecord,
  refutedText,
  snapshotFolders,
  type SnapshotRecord,
} from '../snapshot/snapshotRecord.js';
import { StepTimers } from '../connect/stepTimers.js';
import { forgetVerdicts, retryVerdicts } from '../blocks/storedVerdicts.js';
import { makeFolder } from '../../util/files/makeFolder.js';

export interface OpenChainOptions {
  /** Folder of the network inside the data folder. */
  folder: string;
  /** Folder that contains the block files (`-blocksdir`). */
  blocksFolder: string;
  /** Maximum size of a block file in bytes. */
  maxBlockFileBytes?: number;
  params: NetworkParams;
  identity: FolderIdentity;
  /** Delay of supports: `proportional`, or a fixed number of blocks. */
  supportDelay: 'proportional' | 100;
  /** Number of the latest blocks for which name proofs are available. */
  proofWindow: number | 'all';
  /** Size in bytes of the coin cache and the database cache together (`-dbcache`). */
  cacheBytes: number;
  /** Size in bytes of the claim trie cache (`-claimtriecache`). */
  claimCacheBytes: number;
  /** Maximum size in bytes of a database batch (`-dbbatchsize`). */
  batchBytes: number;
  /** `-forcecompactdb`. */
  compacts: boolean;
  reindex: boolean;
  reindexChainstate: boolean;
  /** Whether block files may be deleted (`-prune`). */
  pruning: boolean;
  checkpoints: boolean;
  minimumChainWork: bigint;
  assumeValid: Bytes | null;
  maxTipAgeSec: number;
  stopAtHeight: number;
  onStopHeight: () => void;
  /** Called on an error during a change of the chain. The chain's state in memory may then be wrong, and the node must stop. */
  onFatal: (error: unknown) => void;
  adjustedTimeSec: () => number;
  contributors: readonly OpenedContributor[];
  /** Snapshot from which a new folder is created (`-loadsnapshot`). */
  snapshot?: SnapshotSource | null;
  /** Called with the progress of reading the snapshot, as a sentence without the full stop. */
  onSnapshotProgress?: (text: string) => void;
  /** Called before the first block is connected. Listeners that need all chain events must register in this call. */
  onChain?: (reader: ChainReader) => void;
  /** Aborted when the node shall stop during its start. */
  signal: AbortSignal;
  log: Logger;
  /** Shows a warning to the operator and writes it to the log. If absent, warnings are only logged. */
  warn?: (message: string) => void;
  /** Called at named points of commit and flush. Tests kill the process at these points. */
  onPoint?: (name: string) => void;
}

export interface OpenedChain {
  chain: Chain;
  reader: ChainReader;
  store: RowStore;
  claims: ClaimStore;
  flusher: Flusher;
  timers: StepTimers;
  /**
   * Computes the chain state from the block files; null if the state is complete. The RPC server may run during the
   * computation. The chain has no tip until the genesis block has been read.
   */
  readonly rebuild: (() => Promise<void>) | null;
  /** The snapshot on which the chain is based while its blocks are not validated; null for an ordinary folder. */
  readonly snapshot: SnapshotRecord | null;
  /** Gives the chain the memory of the background validation. Called when the validation has ended. */
  endSharing(): void;
  close(): Promise<void>;
}

/**
 * LevelDB's block cache gets this fraction (1/n) of `-dbcache`, within the following limits. Most rows that are read are
 * alone in their block, so that the node's own caches store ten times as many rows in as much memory.
 */
const DB_CACHE_SHARE = 8;
const MIN_DB_CACHE_BYTES = 8 << 20;
const MAX_DB_CACHE_BYTES = 32 << 20;

/**
 * Minimum number of headers for reopening the database after reading them. Reopening releases the memory that the reading
 * has mapped.
 */
const MANY_HEADERS = 100_000;

/**
 * Opens the folder. Throws `FolderError` or `EnvironmentError` if the folder cannot be used. The message of the error states
 * the remedy.
 */
export async function openChain(options: OpenChainOptions): Promise<OpenedChain> {
  const { folder, params, log } = options;
  refuseContradiction(options);
  for (const path of [folder, options.blocksFolder]) onFile(path, () => makeFolder(path));
  checkDiskSpace([folder, options.blocksFolder]);
  const paths = { folder, database: join(folder, 'chainstate'), blocks: options.blocksFolder };
  if (existsSync(join(folder, 'claimtrie'))) throw foreign(folder);
  if (options.reindex || options.reindexChainstate || options.snapshot)
    onFile(paths.database, () => ConnectedNotes.remove(paths.database));
  // Before -reindex, which deletes the database: a database that takes its place afterwards would be kept.
  finishReplacing(paths.database);
  if (options.reindex) {
    // Otherwise the loaded snapshot would replace the database that is computed from the block files.
    dropSnapshotLoad(paths.database);
    beginReindex(paths, { pruning: options.pruning, isOurs: await isSurelyOurs(paths, options) });
  }
  finishReindex(paths, log);
  finishSnapshotLoad(paths.database);
  if (options.snapshot) await startFromSnapshot(options.snapshot, paths, options);
  let store = await openStore(paths.database, options);
  try {
    markAsOurs(paths.database);
    if (options.compacts) {
      log.info(`Starting database compaction of ${paths.database}`);
      await store.compact();
      log.info(`Finished database compaction of ${paths.database}`);
    }
    const resets = options.reindexChainstate && !options.reindex;
    const { pruned } = await readChainState(store, paths.database);
    if (pruned && resets) {
      throw new FolderError(
        'Block files of this folder were pruned, so that its chain state cannot be rebuilt from them. Use ' +
          '-reindex, which will download the whole chain again.',
      );
    }
    if (pruned && !options.pruning) {
      throw new FolderError(
        'You need to rebuild the database using -reindex to go back to unpruned mode. This will redownload the entire blockchain',
      );
    }
    const snapshot = await openSnapshot(store, paths.database, resets);
    await claimFolder(store, paths.database, options.identity, resets);
    if (resets) await beginChainStateReset(store);
    store = await finishChainStateReset(store, paths.database, (path) => openStore(path, options));
    if (options.reindex) await beginRebuild(store);
    for (const contributor of options.contributors) await contributor.open(store);
    return await bringUp({ store, database: paths.database, snapshot }, options);
  } catch (error) {
    await store.close();
    throw error;
  } finally {
    log.debug('db', `opened ${params.name} chain state`);
  }
}

/** Throws `FolderError` for a reindex with `-loadsnapshot`, before anything is deleted for it. */
function refuseContradiction({ snapshot, reindex, reindexChainstate }: OpenChainOptions): void {
  if (!snapshot || !(reindex || reindexChainstate)) return;
  throw new FolderError(
    '-loadsnapshot fills a new folder, whereas -reindex and -reindex-chainstate rebuild the chain state ' +
      'from block files. Use only one of them.',
  );
}

function foreign(folder: string): FolderError {
  return new FolderError(
    `${folder} contains the database of another program. Use another -datadir, and import its blocks ` +
      'with -loadblock=<file>, or copy its blocks folder and start with -reindex.',
  );
}

/**
 * Whether the database about to be deleted was certainly created by this program. The result is false for a database that
 * cannot be opened and has no mark; `-reindex` exists for this case. Throws `FolderError` if another program created the
 * database.
 */
async function isSurelyOurs({ database }: FolderPaths, options: OpenChainOptions): Promise<boolean> {
  if (!existsSync(database) || isMarkedAsOurs(database)) return true;
  try {
    await (
      await RowStore.open({ path: database, cacheBytes: MIN_DB_CACHE_BYTES, mark: IDENTITY_KEY })
    ).close();
    return true;
  } catch (error) {
    if (error instanceof ForeignDatabaseError) throw foreign(options.folder);
    if (isLocked(error)) throw locked(options.folder);
    return false;
  }
}

function locked(folder: string): FolderError {
  return new FolderError(
    `Cannot obtain a lock on data directory ${folder}. lbcnode is probably already running.`,
  );
}

function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error;
}

/** Whether another process has opened the database. */
function isLocked(error: unknown): boolean {
  return error instanceof DatabaseError && error.isLocked;
}

async function openStore(path: string, options: OpenChainOptions): Promise<RowStore> {
  const cacheBytes = Math.min(
    MAX_DB_CACHE_BYTES,
    Math.max(MIN_DB_CACHE_BYTES, Math.floor(options.cacheBytes / DB_CACHE_SHARE)),
  );
  options.log.debug('leveldb', `Opening LevelDB in ${path}`);
  try {
    return await RowStore.open({
      path,
      cacheBytes,
      recent: {
        shares: RECENT_SHARES,
        maxBytes: cacheSizes(options, false).claimCacheBytes,
      },
      batchBytes: options.batchBytes,
      newKinds: PREFIX.addressUnspent,
      rangeKinds: RANGE_KINDS,
      mark: IDENTITY_KEY,
      ...(options.onPoint ? { onPoint: options.onPoint } : {}),
    });
  } catch (error) {
    if (error instanceof ForeignDatabaseError) {
      if (isMarkedAsOurs(path))
        throw new DatabaseCorruptionError(
          path,
          'it does not contain the row that every database of this program has',
        );
      throw foreign(options.folder);
    }
    if (error instanceof DatabaseCorruptionError) throw error;
    if (isLocked(error)) throw locked(options.folder);
    const cause = causeOf(error);
    const message = cause instanceof Error ? cause.message : String(cause);
    const refused = systemErrorOfText(message);
    if (refused) throw new EnvironmentError(systemErrorText(refused.code, refused.path));
    if (systemErrorCode(cause) !== null) throw environmentError(cause, path);
    throw new FolderError(
      `The database in ${path} cannot be opened: ${message}. Restart with -reindex to rebuild it from the block files.`,
    );
  }
}

/** Reads the row of the chain state. Throws `DatabaseCorruptionError` if the row is missing or unreadable. */
async function readChainState(store: RowStore, database: string): Promise<ChainState> {
  const row = await store.get(PREFIX.tip);
  try {
    return parseChainState(row);
  } catch {
    throw new DatabaseCorruptionError(database, 'the row that contains its tip cannot be read');
  }
}

/** Loads the snapshot into a new folder. Throws `SnapshotError` or `FolderError`. */
async function startFromSnapshot(
  source: SnapshotSource,
  { folder, database }: FolderPaths,
  options: OpenChainOptions,
): Promise<void> {
  const { params, checkpoints, adjustedTimeSec, identity, minimumChainWork, signal, log } = options;
  await loadSnapshot(source, {
    folder,
    database,
    identity,
    claimRules: { ...params.claimForks, supportDelay: options.supportDelay },
    minimumChainWork,
    indexOptions: { params, checkpoints, adjustedTimeSec },
    open: () => openStore(database, options),
    signal,
    log,
    ...(options.onSnapshotProgress ? { onProgress: options.onSnapshotProgress } : {}),
    onPoint: options.onPoint ?? (() => undefined),
  });
}

/**
 * Returns the snapshot on which the database is based if it is not validated yet, else null. Throws `FolderError` if the
 * snapshot was found wrong. Also throws with `resets` (`-reindex-chainstate`), because a recomputation needs all blocks.
 */
async function openSnapshot(
  store: RowStore,
  database: string,
  resets: boolean,
): Promise<SnapshotRecord | null> {
  const record = await readSnapshotRecord(store);
  if (record?.state === 'refuted') throw new FolderError(refutedText(record));
  if (record?.state === 'assumed') {
    if (!resets) return record;
    throw new FolderError(
      `This folder was started from a snapshot of block ${record.height}, and the blocks up to it are not ` +
        'complete, so that the chain state cannot be rebuilt. Use -reindex, which downloads the missing ' +
        'blocks.',
    );
  }
  if (record !== null && resets) dropSnapshotRecord(store);
  await removeGround(snapshotFolders(database).validation);
  return null;
}

/** Loads the headers from the database. Throws `DatabaseCorruptionError`. */
async function loadHeaders(
  store: RowStore,
  database: string,
  { headerCount }: ChainState,
): Promise<HeaderTable> {
  const headers = new HeaderTable(store);
  try {
    await headers.load(headerCount);
  } catch (error) {
    if (error instanceof AssertionError) throw new DatabaseCorruptionError(database, error.message);
    throw error;
  }
  if (headerCount > MANY_HEADERS) await store.reopen();
  await headers.prepareTail();
  return headers;
}

/** Builds the block index up to the tip that the database contains. Throws `DatabaseCorruptionError`. */
function restoreIndex(
  headers: HeaderTable,
  state: ChainState,
  { database, snapshot }: Pick<BringUp, 'database' | 'snapshot'>,
  { params, checkpoints, adjustedTimeSec }: OpenChainOptions,
): BlockIndex {
  const index = new BlockIndex(headers, { params, checkpoints, adjustedTimeSec });
  const tip = state.tip === null ? NO_HEADER : headers.find(hashFromHex(state.tip));
  if (state.tip !== null && tip === NO_HEADER) {
    throw new DatabaseCorruptionError(database, 'its tip is an unknown block');
  }
  if (state.tip === null) forgetVerdicts(headers);
  else retryVerdicts(headers, tip);
  if (snapshot !== null) index.snapshotHeight = snapshot.height;
  index.restore(tip);
  return index;
}

function makeClaimStore({ params, supportDelay, proofWindow, log }: OpenChainOptions): ClaimStore {
  return new ClaimStore({
    rules: { ...params.claimForks, supportDelay },
    proofWindow,
    onLateRead: (row) => {
      log.warn(
        `A ${row} row of the claim trie was not prefetched and was read during validation. The result is ` +
          'correct but took longer; please report this. The metrics count such reads, and the log does not ' +
          'repeat this message.',
      );
    },
  });
}

interface BringUp {
  readonly store: RowStore;
  readonly database: string;
  readonly snapshot: SnapshotRecord | null;
}

/** The chain, its flusher, and the stores that both use. The chain is at the tip that the database records. */
interface ChainParts {
  readonly chain: Chain;
  readonly flusher: Flusher;
  readonly claims: ClaimStore;
  readonly timers: StepTimers;
}

function makeChain(
  index: BlockIndex,
  files: BlockFiles,
  state: ChainState,
  { store, database, snapshot }: BringUp,
  options: OpenChainOptions,
): ChainParts {
  const { params, log } = options;
  const coins = createCoinTable();
  const timers = new StepTimers();
  const claims = makeClaimStore(options);
  const connectedNotes = new ConnectedNotes(ConnectedNotes.pathOf(database));
  const flusher = new Flusher(
    {
      cacheBytes: cacheSizes(options, snapshot !== null).cacheBytes,
      folders: [options.folder, options.blocksFolder],
      connectedNotes,
      afterFlush: async () => {
        for (const { gte, lt } of claims.prunable(index.active.height)) {
          await store.dropRange(gte, lt);
          store.packRange(gte, lt);
        }
      },
    },
    { store, coins, index, files, timers, log },
    state,
  );
  const chain = new Chain(
    {
      minimumChainWork: options.minimumChainWork,
      assumeValid: options.assumeValid,
      maxTipAgeSec: options.maxTipAgeSec,
      adjustedTimeSec: options.adjustedTimeSec,
      stopAtHeight: options.stopAtHeight,
      onStopHeight: options.onStopHeight,
      onFatal: options.onFatal,
    },
    {
      params,
      index,
      store,
      coins,
      claims,
      files,
      contributors: options.contributors,
      timers,
      folder: database,
      log,
      coinsOnDisk: () => flusher.coinsOnDisk,
      onPoint: options.onPoint ?? (() => undefined),
    },
    flusher,
    log,
  );
  return { chain, flusher, claims, timers };
}

async function bringUp(ground: BringUp, options: OpenChainOptions): Promise<OpenedChain> {
  const { store, database, snapshot } = ground;
  const { params, log } = options;
  const state = await readChainState(store, database);
  const headers = await loadHeaders(store, database, state);
  const index = restoreIndex(headers, state, ground, options);
  const files = new BlockFiles({
    folder: options.blocksFolder,
    magic: params.magic,
    ...(options.maxBlockFileBytes ? { maxFileBytes: options.maxBlockFileBytes } : {}),
  });
  checkBlockFiles(headers, files, state);
  if (snapshot !== null) store.resizeRecent(cacheSizes(options, true).claimCacheBytes);
  const { chain, flusher, claims, timers } = makeChain(index, files, state, ground, options);
  options.signal.addEventListener('abort', () => chain.interrupt());
  const reader = new ChainReader(chain, flusher);
  options.onChain?.(reader);
  acceptGenesis(chain, params);
  const { signal, warn } = options;
  const scanned = { file: state.scannedFile, offset: state.scannedBytes };
  const catching = { chain, flusher, log, signal, warn: warn ?? ((message: string) => log.warn(message)) };
  if (!state.rebuilding) {
    chain.importing = true;
    await catchUp(catching, scanned);
    chain.importing = false;
  }
  return {
    chain,
    reader,
    store,
    claims,
    flusher,
    timers,
    rebuild: state.rebuilding ? () => rebuild(catching, scanned) : null,
    snapshot,
    endSharing() {
      const { cacheBytes, claimCacheBytes } = cacheSizes(options, false);
      store.resizeRecent(claimCacheBytes);
      flusher.resize(cacheBytes);
    },
    async close() {
      try {
        await chain.close();
        files.close();
        flusher.close();
      } finally {
        await store.close();
      }
    },
  };
}
