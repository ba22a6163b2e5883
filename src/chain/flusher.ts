/**
 * Decides when the coin cache, the overlay and the headers are flushed, and writes them to disk as one step: coins, claims,
 * indexes, headers and tip on disk always belong to the same block. Source: Core `FlushStateToDisk`.
 */
import type { BlockFiles, FilePosition } from '../store/files/blockFiles.js';
import type { CoinTable } from '../store/cache/coinTable.js';
import type { RowStore } from '../store/rows/rowStore.js';
import { PREFIX } from '../store/rows/keys.js';
import { hashToHex, type Bytes } from '../util/bytes.js';
import { environmentError, onFile } from '../util/text/environmentError.js';
import type { Logger } from '../util/logging.js';
import { NO_HEADER } from '../store/files/headerTable.js';
import type { BlockIndex } from './index/blockIndex.js';
import { formatChainState, type ChainState } from './connect/chainState.js';
import type { ConnectedNotes } from './blocks/connectedNotes.js';
import { checkDiskSpace } from './blocks/diskSpace.js';
import type { StepTimers } from './connect/stepTimers.js';

/** Milliseconds after which a cache that is not full is flushed, so that a crash loses little work. */
const FLUSH_INTERVAL_MS = 10 * 60_000;
/**
 * Milliseconds of the process's time on processors after which caches are flushed even if not full. A start after a kill
 * connects the blocks since the last flush again, which takes about as long. More flushes take more time themselves.
 * Measured: `docs/benchmarks.md`.
 */
const REPLAY_CPU_MS = 12_000;
/** Number of blocks between two checks of the process's processor time. Arbitrary. */
const BLOCKS_A_READING = 16;
/**
 * Minimum size in bytes of unflushed data in the caches for which a flush is worthwhile. After a kill, reconnecting blocks
 * with less data takes only some tenths of a second.
 */
const WORTH_FLUSHING_BYTES = 1 << 20;
/** Part of the coin cache's size limit that stays in the cache after a flush. */
const KEEP_SHARE = 0.75;

/** Share of `-dbcache` that the coin cache and the overlay always have, whatever the caches of rows on disk take. */
const OWN_SHARE = 0.4;

/** Share of `-dbcache` for buffers of a flush, and for memory that the heap holds beside the caches. */
const FLUSH_SHARE = 0.15;

/**
 * Size in bytes of a chain state's coin cache and overlay that causes a flush: `cacheBytes` without the buffers of a flush and
 * the caches of rows on disk, but at least `OWN_SHARE` of `cacheBytes`.
 */
export function flushedAtBytes(
  cacheBytes: number,
  { recentBytes, databaseMemory }: Pick<RowStore, 'recentBytes' | 'databaseMemory'>,
): number {
  const others = recentBytes + databaseMemory.maxBytes + cacheBytes * FLUSH_SHARE;
  return Math.max(cacheBytes * OWN_SHARE, cacheBytes - others);
}

/** Maximum age in milliseconds of a reading of the process's processor time. Small compared with `REPLAY_CPU_MS`. */
const READING_AGE_MS = 50;
const reading = { atMs: -Infinity, cpuMs: 0 };

/** Processor time of the process in milliseconds, at most `READING_AGE_MS` old. A reading is a slow system call. */
function processCpuMs(): number {
  const nowMs = performance.now();
  if (nowMs - reading.atMs < READING_AGE_MS) return reading.cpuMs;
  const { user, system } = process.cpuUsage();
  reading.atMs = nowMs;
  return (reading.cpuMs = (user + system) / 1000);
}

export interface FlusherOptions {
  /**
   * Size limit in bytes of the coin cache, the overlay, the caches of rows on disk, and the buffers of a flush together
   * (`-dbcache`). Coin cache and overlay have at least `OWN_SHARE` of it.
   */
  cacheBytes: number;
  /** Folders whose file systems must have free space before a flush. */
  folders: readonly string[];
  /** Milliseconds that the process has spent on processors; by default measured. */
  cpuMs?: () => number;
  /** Notes of the blocks that were connected since the last flush. */
  connectedNotes?: ConnectedNotes;
  /** Called after a flush. History outside the window of past proofs may then be deleted. */
  afterFlush?: () => Promise<void>;
}

export class Flusher {
  private readonly options: FlusherOptions;
  private readonly deps: {
    store: RowStore;
    coins: CoinTable;
    index: BlockIndex;
    files: BlockFiles;
    timers: StepTimers;
    log: Logger;
  };
  private cacheBytes: number;
  private lastMs = performance.now();
  /** `cpuMs` at the end of the last flush. */
  private lastCpuMs = 0;
  private blocksToReading = BLOCKS_A_READING;
  private running: Promise<void> = Promise.resolve();
  private isRunning = false;
  /** Size limit of coin cache and overlay, in bytes. It changes with the row caches, that is by flushes. */
  private limitBytes = 0;
  /** Number of bytes of the overlay that the next flush may copy to the row caches. */
  private copiedBytes = 0;
  /** Whether a flush has failed. In that case, data that had left the caches is lost. */
  private isBroken = false;
  /** The block to which the coins, claims and indexes on disk belong; `NO_HEADER` before the first. */
  flushedTip: number;
  /** Whether coins were ever written to the database. */
  coinsOnDisk: boolean;
  /** Whether block files were ever deleted by pruning. */
  pruned: boolean;
  /** Whether the chain state is being computed from the block files. */
  isRebuilding: boolean;
  /** During the initial reading of block files: position from which they must be read again after a kill. */
  scanFrom: FilePosition | null = null;
  /** Awaited before a flush between two blocks. The rows that it commits are flushed too. */
  beforeFlush: () => Promise<void> = () => Promise.resolve();
  /** Called with the number of bytes when a write to disk begins, and with null when the write ends. */
  onWriting: (bytes: number | null) => void = () => undefined;
  /** Called after a failed flush. Rows that were removed from the caches may be lost, so that no further flush may run. */
  onFailure: (error: unknown) => void = () => undefined;

  constructor(
    options: FlusherOptions,
    deps: Flusher['deps'],
    state: Pick<ChainState, 'coinsOnDisk' | 'pruned' | 'rebuilding'>,
  ) {
    this.options = options;
    this.cacheBytes = options.cacheBytes;
    this.coinsOnDisk = state.coinsOnDisk;
    this.pruned = state.pruned;
    this.isRebuilding = state.rebuilding;
    this.deps = deps;
    this.lastCpuMs = this.cpuMs();
    this.updateLimits();
    this.flushedTip = deps.index.active.tip;
    // The store calls this function in the middle of a block. The coins of the block must stay in the cache, so this flush
    // removes none.
    deps.store.beforeSpill = () => this.run(false);
  }

  get usageBytes(): number {
    return this.deps.coins.usageBytes + this.deps.store.dirtyBytes;
  }

  /** Size in bytes that causes a flush. */
  get maxBytes(): number {
    return this.limitBytes;
  }

  /** Replaces the `cacheBytes` of the options. */
  resize(cacheBytes: number): void {
    this.cacheBytes = cacheBytes;
    this.updateLimits();
  }

  /**
   * Called after each block. Flushes when the cache is full, when the store requires a flush, or when the blocks since the
   * last flush took so much processor time that connecting them again after a kill would take long. `connected` is the id
   * (wire order) of the block, if it was connected.
   */
  async afterBlock(connected?: Bytes): Promise<void> {
    if (connected) this.options.connectedNotes?.add(connected);
    const { store, coins } = this.deps;
    const { dirtyBytes } = store;
    const needed = coins.usageBytes + dirtyBytes + Math.min(dirtyBytes, this.copiedBytes);
    if (store.mustFlush || needed > this.limitBytes || this.isLate()) await this.flush();
  }

  /** Whether a process that was killed before its next flush had connected the block with this id (wire order). */
  wasConnected(hash: Bytes): boolean {
    return this.options.connectedNotes?.has(hash) ?? false;
  }

  close(): void {
    this.options.connectedNotes?.close();
  }

  /** Called when the blocks that a killed process had connected are connected again. */
  forgetEarlierBlocks(): void {
    this.options.connectedNotes?.forgetEarlier();
  }

  private isLate(): boolean {
    if (--this.blocksToReading > 0) return false;
    this.blocksToReading = BLOCKS_A_READING;
    return this.isWorthIt && this.cpuMs() - this.lastCpuMs > REPLAY_CPU_MS;
  }

  private cpuMs(): number {
    return (this.options.cpuMs ?? processCpuMs)();
  }

  private updateLimits(): void {
    const { recentBytes, recentMaxBytes } = this.deps.store;
    this.limitBytes = flushedAtBytes(this.cacheBytes, this.deps.store);
    this.copiedBytes = Math.max(0, recentMaxBytes - recentBytes);
  }

  /** Whether the caches contain so much unflushed data that a kill would lose noticeable work. */
  get isWorthIt(): boolean {
    return this.deps.coins.dirtyBytes + this.deps.store.dirtyBytes > WORTH_FLUSHING_BYTES;
  }

  /**
   * Called when the best chain is active. Writes the block and undo data that waits in memory. Flushes if the last flush was
   * too long ago.
   */
  async afterConnecting(initialDownload: boolean): Promise<void> {
    const { files } = this.deps;
    onFile(files.path('blk', files.currentFile), () => files.writeOut());
    this.options.connectedNotes?.writeOut();
    if (!initialDownload && performance.now() - this.lastMs > FLUSH_INTERVAL_MS) await this.flush();
  }

  /**
   * Resolves when no flush is in progress: during a flush the database lacks data that has left the caches. Rejects after a
   * failed flush: the database lacks that data permanently, and results read from it would be wrong.
   */
  async settled(): Promise<void> {
    await this.running;
    if (this.isBroken) throw new Error('the node is stopping after an error');
  }

  /** Whether a call of `settled` now would resolve immediately. */
  get isSettled(): boolean {
    return !this.isRunning && !this.isBroken;
  }

  /** Writes all unflushed data (coins, claims, indexes, headers and tip) to disk as one atomic step. */
  async flush(): Promise<void> {
    await this.beforeFlush();
    await this.run(true);
  }

  private async run(trim: boolean): Promise<void> {
    this.isRunning = true;
    const running = this.write(trim);
    this.running = running.then(
      () => {
        this.isRunning = false;
      },
      (error: unknown) => {
        this.isBroken = true;
        this.onFailure(error);
      },
    );
    await running;
  }

  private async write(trim: boolean): Promise<void> {
    const { store, coins, index, files, timers } = this.deps;
    const began = performance.now();
    checkDiskSpace(this.options.folders);
    onFile(files.path('blk', files.currentFile), () => files.sync());
    const { headers, active } = index;
    const { tip } = active;
    const { dirtyCount, dirtyBytes } = coins;
    if (dirtyCount > 0) this.coinsOnDisk = true;
    headers.writeDirty(store);
    const end = { file: files.currentFile, offset: files.sizeBytes('blk', files.currentFile) };
    const scanned = this.scanFrom ?? end;
    store.put(
      PREFIX.tip,
      formatChainState({
        tip: tip === NO_HEADER ? null : hashToHex(headers.hash(tip)),
        headerCount: headers.count,
        scannedFile: scanned.file,
        scannedBytes: scanned.offset,
        coinsOnDisk: this.coinsOnDisk,
        pruned: this.pruned,
        resetting: false,
        rebuilding: this.isRebuilding,
      }),
    );
    this.onWriting(dirtyBytes + store.dirtyBytes);
    try {
      await store.flush((maxBytes) => coins.takeDirty(maxBytes), dirtyBytes);
    } catch (error) {
      throw environmentError(error, this.options.folders[0]!);
    }
    this.onWriting(null);
    this.flushedTip = tip;
    this.options.connectedNotes?.flushed();
    this.logFlush(dirtyCount, dirtyBytes);
    this.updateLimits();
    if (trim && coins.usageBytes > this.limitBytes * KEEP_SHARE) coins.trim(this.limitBytes * KEEP_SHARE);
    await this.options.afterFlush?.();
    this.lastMs = performance.now();
    this.lastCpuMs = this.cpuMs();
    timers.add('flush', this.lastMs - began);
  }

  private logFlush(dirtyCount: number, dirtyBytes: number): void {
    const { store, coins, log } = this.deps;
    log.debug(
      'coindb',
      () =>
        `Committed ${dirtyCount} changed transaction outputs (out of ${coins.entryCount}, ${(dirtyBytes / (1 << 20)).toFixed(2)} MiB) to coin database`,
    );
    if (!log.willLog('leveldb')) return;
    for (const line of store.tableStats().split('\n')) if (line !== '') log.debug('leveldb', line);
  }
}
