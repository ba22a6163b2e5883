/**
 * Opens a data folder and brings up its chain: recovers from whatever moment the last process died at, finds blocks that
 * the files hold and the database does not know, verifies the last ones, and connects what is better than the tip.
 * Source: Core init.cpp (step 7), validation.cpp `LoadBlockIndex`, `ReplayBlocks`, `ThreadImport`.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { NetworkParams } from '../params/network.js';
import { BlockFiles } from '../store/blockFiles.js';
import { ClaimStore } from '../store/claims/claimStore.js';
import { createCoinTable } from '../store/coinTable.js';
import { HeaderTable, NO_HEADER, STATUS } from '../store/headerTable.js';
import { PREFIX } from '../store/keys.js';
import { RowStore } from '../store/rowStore.js';
import { hashFromHex, hashToHex, type Bytes } from '../util/bytes.js';
import { breathe } from '../util/breathe.js';
import type { Logger } from '../util/logging.js';
import { ReadError } from '../util/reader.js';
import { BlockIndex } from './blockIndex.js';
import { Chain } from './chain.js';
import { ChainReader } from './chainReader.js';
import { parseChainState } from './chainState.js';
import type { BlockContributor } from './contributor.js';
import { Flusher } from './flusher.js';
import { claimFolder, FolderError, type FolderIdentity } from './folderIdentity.js';
import { readBlockRecords } from './importFile.js';
import { loadBlock, type LoadedBlock } from './loadedBlock.js';
import { StepTimers } from './stepTimers.js';

export interface OpenChainOptions {
  /** The network's own folder. */
  folder: string;
  /** Folder of the block files (`-blocksdir`). */
  blocksFolder: string;
  /** A block file is full from here on. */
  maxBlockFileBytes?: number;
  params: NetworkParams;
  identity: FolderIdentity;
  /** `proportional` or blocks. */
  supportDelay: 'proportional' | 100;
  /** Blocks for which past name proofs are kept. */
  proofWindow: number | 'all';
  /** `-dbcache`, in bytes. */
  cacheBytes: number;
  /** `-dbbatchsize`, in bytes. */
  batchBytes: number;
  reindex: boolean;
  reindexChainstate: boolean;
  checkpoints: boolean;
  minimumChainWork: bigint;
  assumeValid: Bytes | null;
  maxTipAgeSec: number;
  stopAtHeight: number;
  onStopHeight: () => void;
  /** An error while the chain was being changed: memory can no longer be trusted, the node must stop. */
  onFatal: (error: unknown) => void;
  adjustedTimeSec: () => number;
  contributors: readonly BlockContributor[];
  /** Called before the first block is connected: who listens to the chain from the start does so here. */
  onChain?: (reader: ChainReader) => void;
  /** Aborted when the node shall stop while it is still starting. */
  signal: AbortSignal;
  log: Logger;
  /** Named points of commit and flush, for tests that kill the process there. */
  onPoint?: (name: string) => void;
}

export interface OpenedChain {
  chain: Chain;
  reader: ChainReader;
  store: RowStore;
  claims: ClaimStore;
  flusher: Flusher;
  timers: StepTimers;
  close(): Promise<void>;
}

/** Share of the cache that LevelDB's own block cache gets, and its bounds. */
const DB_CACHE_SHARE = 8;
const MIN_DB_CACHE_BYTES = 8 << 20;
const MAX_DB_CACHE_BYTES = 64 << 20;

/** From so many headers on, reading them has mapped enough of the database to be worth unmapping. */
const MANY_HEADERS = 100_000;

/** Opens the folder. Throws `FolderError` with what to do when it cannot be used. */
export async function openChain(options: OpenChainOptions): Promise<OpenedChain> {
  const { folder, params, log } = options;
  mkdirSync(folder, { recursive: true });
  const databasePath = join(folder, 'chainstate');
  if (options.reindex) {
    rmSync(databasePath, { recursive: true, force: true });
    rmSync(`${databasePath}.journal`, { force: true });
  }
  if (existsSync(join(databasePath, 'obfuscate_key')) || existsSync(join(folder, 'claimtrie'))) {
    throw new FolderError(
      `${folder} holds the database of another node. Point -datadir at a folder of its own and import its blocks: -loadblock=<file>, or copy its blocks folder and start with -reindex.`,
    );
  }
  const store = await openStore(databasePath, options);
  try {
    await claimFolder(store, options.identity);
    if (options.reindexChainstate && !options.reindex) await forgetChainState(store);
    return await bringUp(store, options);
  } catch (error) {
    await store.close();
    throw error;
  } finally {
    log.debug('db', `opened ${params.name} chain state`);
  }
}

async function openStore(path: string, options: OpenChainOptions): Promise<RowStore> {
  const cacheBytes = Math.min(
    MAX_DB_CACHE_BYTES,
    Math.max(MIN_DB_CACHE_BYTES, Math.floor(options.cacheBytes / DB_CACHE_SHARE)),
  );
  try {
    return await RowStore.open({
      path,
      cacheBytes,
      batchBytes: options.batchBytes,
      ...(options.onPoint ? { onPoint: options.onPoint } : {}),
    });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = (cause as { code?: string }).code;
    if (code === 'LEVEL_LOCKED') {
      throw new FolderError(
        `Cannot obtain a lock on data directory ${options.folder}. lbcnode is probably already running.`,
      );
    }
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new FolderError(
      `The database in ${path} cannot be opened: ${message}. Restart with -reindex to rebuild it from the block files.`,
    );
  }
}

/** Keeps headers and folder identity, drops coins, claims and indexes (`-reindex-chainstate`). */
async function forgetChainState(store: RowStore): Promise<void> {
  const state = parseChainState(await store.get(PREFIX.tip));
  const kept = [PREFIX.headerChunk, PREFIX.meta, PREFIX.tip];
  let from = '\x00';
  for (const prefix of [...kept].sort()) {
    await store.dropRange(from, prefix);
    from = String.fromCharCode(prefix.charCodeAt(0) + 1);
  }
  await store.dropRange(from, '\xff');
  store.put(PREFIX.tip, Buffer.from(JSON.stringify({ ...state, tip: null, coinsOnDisk: false })));
  await store.flush();
}

async function bringUp(store: RowStore, options: OpenChainOptions): Promise<OpenedChain> {
  const { params, log } = options;
  const state = parseChainState(await store.get(PREFIX.tip));
  const headers = new HeaderTable(store);
  await headers.load(state.headerCount);
  if (state.headerCount > MANY_HEADERS) await store.unmap();
  await headers.prepareTail();
  const index = new BlockIndex(headers, {
    params,
    checkpoints: options.checkpoints,
    adjustedTimeSec: options.adjustedTimeSec,
  });
  const tip = state.tip === null ? NO_HEADER : headers.find(hashFromHex(state.tip));
  if (state.tip !== null && tip === NO_HEADER) {
    throw new FolderError(
      'The database names a tip that it does not know. Restart with -reindex to rebuild it.',
    );
  }
  index.restore(tip);
  const files = new BlockFiles({
    folder: options.blocksFolder,
    magic: params.magic,
    ...(options.maxBlockFileBytes ? { maxFileBytes: options.maxBlockFileBytes } : {}),
  });
  const coins = createCoinTable();
  const timers = new StepTimers();
  const claims = new ClaimStore({
    rules: { ...params.claimForks, supportDelay: options.supportDelay },
    proofWindow: options.proofWindow,
  });
  const flusher = new Flusher(
    {
      cacheBytes: options.cacheBytes,
      folder: options.folder,
      afterFlush: async () => {
        for (const { gte, lt } of claims.prunable(index.active.height)) await store.dropRange(gte, lt);
      },
    },
    { store, coins, index, files, timers },
    state.coinsOnDisk,
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
      coinsOnDisk: () => flusher.coinsOnDisk,
      onPoint: options.onPoint ?? (() => undefined),
    },
    flusher,
    log,
  );
  options.signal.addEventListener('abort', () => chain.interrupt());
  const reader = new ChainReader(chain, flusher);
  options.onChain?.(reader);
  acceptGenesis(chain, params);
  await scanBlockFiles(
    chain,
    options,
    options.reindex ? { file: 0, bytes: 0 } : { file: state.scannedFile, bytes: state.scannedBytes },
  );
  await chain.activateBestChain();
  return {
    chain,
    reader,
    store,
    claims,
    flusher,
    timers,
    async close() {
      await chain.close();
      files.close();
      await store.close();
    },
  };
}

/** The genesis block is known from the start; its data is written unless a block file holds it already. */
function acceptGenesis(chain: Chain, params: NetworkParams): void {
  const { headers } = chain.index;
  const known = headers.find(params.genesisHash);
  if (known !== NO_HEADER && headers.hasStatus(known, STATUS.haveData)) return;
  const block = loadBlock(params.genesis.block);
  const files = chain.deps.files;
  const { id, error } = chain.index.acceptHeader(block.header, block.hash);
  if (error) throw new Error(`the genesis block is refused: ${error.reason}`);
  if (files.sizeBytes('blk', 0) === 0)
    chain.index.receiveData(id, block.parsed.txCount, files.writeBlock(block.raw));
}

/**
 * Feeds every block that the files hold behind a position to the chain, in the order in which they were written: what a
 * killed process had accepted but not flushed, files that somebody copied in, or all of them with `-reindex`.
 */
async function scanBlockFiles(
  chain: Chain,
  options: OpenChainOptions,
  from: { file: number; bytes: number },
): Promise<void> {
  const { files } = chain.deps;
  const { headers } = chain.index;
  const { log, params } = options;
  const orphans = new Map<string, { file: number; offset: number }[]>();
  chain.importing = true;
  let since = performance.now();
  for (const file of files.fileNumbers()) {
    if (file < from.file) continue;
    const start = file === from.file ? from.bytes : 0;
    let end = start;
    if (options.reindex) log.info(`Reindexing block file ${files.path('blk', file)}...`);
    for await (const record of readBlockRecords(files.path('blk', file), params.magic, start)) {
      try {
        const block = loadBlock(Buffer.from(record.bytes));
        record.advance = 8 + block.consumedBytes;
        end = record.offset + block.consumedBytes;
        await acceptStored(chain, block, { file, offset: record.offset }, orphans);
      } catch (error) {
        if (!(error instanceof ReadError)) throw error;
        record.advance = 1;
        end = record.offset - 7;
        log.warn(
          `skipped what is no block at ${record.offset} of ${files.path('blk', file)}: ${error.message}`,
        );
      }
      since = await breathe(since);
      if (options.signal.aborted) return;
    }
    // A record torn by a crash must not swallow the one that is appended next.
    if (file === files.currentFile) files.dropTornBlock(file, end);
  }
  chain.importing = false;
  const genesis = headers.find(params.genesisHash);
  if (!headers.hasStatus(genesis, STATUS.haveData)) {
    chain.index.receiveData(genesis, 1, files.writeBlock(params.genesis.block));
  }
  await chain.activateBestChain();
}

type Position = { file: number; offset: number };

/** Accepts a block that lies in our files; one whose parent comes later in them waits. */
async function acceptStored(
  chain: Chain,
  first: LoadedBlock,
  position: Position,
  orphans: Map<string, Position[]>,
): Promise<void> {
  const ready = [{ block: first, position }];
  for (let item = ready.pop(); item; item = ready.pop()) {
    const { block } = item;
    const { error } = chain.acceptBlock(block, true, item.position);
    if (error?.reason === 'prev-blk-not-found') {
      const parent = hashToHex(block.header.prevHash);
      const waiting = orphans.get(parent);
      if (waiting) waiting.push(item.position);
      else orphans.set(parent, [item.position]);
      continue;
    }
    if (error) continue;
    // One by one, as they came: a branch that was connected once is connected again, and counts as validated.
    await chain.activateBestChain();
    const hash = hashToHex(block.hash);
    for (const waiting of orphans.get(hash) ?? []) {
      ready.push({ block: loadBlock(chain.deps.files.readBlockSync(waiting)), position: waiting });
    }
    orphans.delete(hash);
  }
}
