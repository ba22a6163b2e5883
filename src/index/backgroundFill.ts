/**
 * Fills the indexes that are behind the tip from the block files, in the background. An index is behind when it was just
 * enabled, was disabled for a while, or has rows of an older version. Blocks are read ahead outside the chain's queue, and
 * written within it, a few milliseconds at a time. An index that reaches the tip is in sync from that commit on, and is then
 * updated with each new block (`TrackedIndex`). A reorg above the position of an index does not affect it. An index on a
 * stale branch is first disconnected to the fork by undo data. Source: lbrycrd index/base.cpp `BaseIndex::ThreadSync`.
 */
import type { Chain } from '../chain/chain.js';
import type { Flusher } from '../chain/flusher.js';
import { FolderError } from '../chain/open/folderIdentity.js';
import type { LoadedBlock } from '../chain/blocks/loadedBlock.js';
import { replayProgress } from '../chain/progress.js';
import { BlockFileError } from '../store/files/blockFiles.js';
import { resolvedFromUndo } from '../store/cache/coinRow.js';
import { NO_HEADER, STATUS } from '../store/files/headerTable.js';
import { yieldIfDue } from '../scheduler/yield.js';
import type { Logger } from '../util/logging.js';
import { letOthersWork } from '../scheduler/pace.js';
import type { IndexStatus, TrackedIndex } from './chainIndex.js';

/** Approximate time for which one step occupies the chain's queue and the event loop. */
const TURN_MS = 4;
/** Maximum number of blocks read ahead. They take most of the memory of a fill, besides the rows that wait for a flush. */
const READ_BLOCKS = 64;
const READ_BYTES = 4 << 20;

export interface FillDeps {
  readonly chain: Chain;
  readonly flusher: Pick<Flusher, 'pruned' | 'flush' | 'afterBlock' | 'afterConnecting'>;
  readonly log: Logger;
  /** Warns the operator and writes to the log. */
  readonly warn: (message: string) => void;
  /** Maximum number of blocks read ahead. Tests use fewer. */
  readonly mostBlocks?: number;
}

/** The next block to process for an index: the one above its position, or its last block if that must be disconnected. */
interface Step {
  readonly id: number;
  readonly isForward: boolean;
}

interface ReadBlock extends Step {
  readonly block: LoadedBlock;
  readonly undo: Buffer;
}

export class BackgroundFill {
  private readonly deps: FillDeps;
  private readonly indexes: readonly TrackedIndex[];
  private readonly mostBlocks: number;
  private stopping = false;
  private running: Promise<void> = Promise.resolve();
  /** Set by `start`. */
  private onBug: ((error: unknown) => void) | null = null;

  constructor(deps: FillDeps, indexes: readonly TrackedIndex[]) {
    this.deps = deps;
    this.indexes = indexes;
    this.mostBlocks = deps.mostBlocks ?? READ_BLOCKS;
    for (const tracked of indexes) tracked.onLost = () => this.goOn();
  }

  /**
   * Call it once the chain is open, before files are pruned: marks the indexes that are at the tip, and drops those that
   * cannot continue from their position. Throws `FolderError` when the files lack blocks that an index needs.
   */
  async prepare(): Promise<void> {
    const { chain, flusher } = this.deps;
    for (const tracked of this.indexes) {
      if (!this.canReturn(tracked)) {
        const { name } = tracked.index;
        this.deps.log.info(`${name} is on a branch whose blocks are gone, and is rebuilt`);
        await chain.change(() => tracked.drop(chain.deps.store, () => flusher.flush()));
      }
      this.noteSynced(tracked);
      const missing = flusher.pruned && !this.waits(tracked) ? this.firstMissing(tracked) : null;
      if (missing !== null) throw prunedBeyond(tracked.index.name, missing);
    }
  }

  /** Status of each index. */
  statuses(): IndexStatus[] {
    return this.indexes.map((tracked) => ({
      name: tracked.index.name,
      synced: tracked.synced,
      height: tracked.synced ? this.deps.chain.height : Math.max(0, this.heightOf(tracked)),
      failure: tracked.failure ?? this.whyWaiting(tracked),
    }));
  }

  /**
   * Lowest height that an index still has to read, so blocks from there on must not be pruned; Infinity if no index needs
   * blocks.
   */
  neededFrom(): number {
    const { active, headers } = this.deps.chain.index;
    const forks = this.unfinished().map((tracked) => active.findFork(this.idOf(tracked)));
    return Math.min(...forks.map((fork) => (fork === NO_HEADER ? 0 : headers.height(fork) + 1)));
  }

  /** Starts to fill. File errors are shown to the operator; other errors go to `onBug`. */
  start(onBug: (error: unknown) => void): void {
    this.onBug = onBug;
    for (const tracked of this.behind()) {
      const from = this.heightOf(tracked) + 1;
      this.deps.log.info(`${tracked.index.name} is filled in the background from height ${from}`);
    }
    this.running = this.run().catch(onBug);
  }

  /** Starts again after an index lost its rows or its blocks became available. */
  private goOn(): void {
    const { onBug } = this;
    if (onBug === null || this.stopping) return;
    this.running = this.running.then(() => this.run()).catch(onBug);
  }

  /** Resolves when the last write has finished. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.running;
  }

  private async run(): Promise<void> {
    try {
      while (!this.stopping && (await this.round()));
    } finally {
      this.deps.chain.events.emit('backgroundProgress', null);
    }
  }

  /** Reads some blocks and writes them. Returns whether there may be more. */
  async round(): Promise<boolean> {
    for (const tracked of this.indexes) if (tracked.isLost) await this.dropLost(tracked);
    const steps = this.nextSteps();
    if (steps.length === 0) return false;
    let blocks: ReadBlock[];
    try {
      blocks = await this.read(steps);
    } catch (error) {
      if (!(error instanceof BlockFileError)) throw error;
      this.fail(steps[0]!, error);
      return true;
    }
    while (blocks.length > 0 && !this.stopping) {
      const began = performance.now();
      try {
        await this.deps.chain.change(() => this.write(blocks));
      } catch {
        // The chain has reported the error, and the node stops.
        return false;
      }
      await letOthersWork(performance.now() - began);
    }
    return true;
  }

  private async dropLost(tracked: TrackedIndex): Promise<void> {
    const { chain, flusher, log } = this.deps;
    log.info(`${tracked.index.name} cannot be disconnected as far as the chain was, and is rebuilt`);
    // If the node stops first, the next start drops the remaining rows.
    for (let isDone = false; !isDone && !this.stopping;) {
      const began = performance.now();
      await chain.change(async () => {
        isDone = await tracked.dropSome(chain.deps.store, () => flusher.flush());
      });
      await letOthersWork(performance.now() - began);
    }
  }

  /** Indexes that are not at the tip and have not failed. */
  private unfinished(): TrackedIndex[] {
    return this.indexes.filter(({ synced, failure }) => !synced && failure === null);
  }

  /** Unfinished indexes that do not wait for blocks. */
  private behind(): TrackedIndex[] {
    return this.unfinished().filter((tracked) => !this.waits(tracked));
  }

  /** Whether the index needs blocks below a snapshot that are not validated yet. */
  private waits(tracked: TrackedIndex): boolean {
    return this.heightOf(tracked) < this.deps.chain.index.snapshotHeight;
  }

  private whyWaiting(tracked: TrackedIndex): string | null {
    if (tracked.synced || !this.waits(tracked)) return null;
    return `It is filled once the blocks up to the snapshot's, at height ${this.deps.chain.index.snapshotHeight}, are validated.`;
  }

  /** Continues the indexes that waited for the blocks below a snapshot. Call it when these blocks are available. */
  resume(): void {
    this.goOn();
  }

  private idOf({ lastBlock }: TrackedIndex): number {
    return lastBlock === null ? NO_HEADER : this.deps.chain.index.headers.find(lastBlock);
  }

  /** Height of the last block in the index; -1 without one. */
  private heightOf(tracked: TrackedIndex): number {
    const id = this.idOf(tracked);
    return id === NO_HEADER ? -1 : this.deps.chain.index.headers.height(id);
  }

  private noteSynced(tracked: TrackedIndex): void {
    const { chain, log } = this.deps;
    if (this.idOf(tracked) !== chain.tip) return;
    tracked.synced = true;
    log.info(`${tracked.index.name} is enabled at height ${chain.height}`);
  }

  /** The next blocks for the index that is furthest behind. Other indexes join when the walk reaches their position. */
  private nextSteps(): Step[] {
    const { active } = this.deps.chain.index;
    const behind = this.behind();
    if (behind.length === 0) return [];
    for (const tracked of behind) {
      const id = this.idOf(tracked);
      if (id !== NO_HEADER && !active.contains(id)) return [{ id, isForward: false }];
    }
    const steps: Step[] = [];
    let height = Math.min(...behind.map((tracked) => this.heightOf(tracked))) + 1;
    for (; height <= active.height && steps.length < this.mostBlocks; height++)
      steps.push({ id: active.at(height), isForward: true });
    return steps;
  }

  /** Reads the first blocks of `steps`, as many as memory allows. Throws `BlockFileError` when the first one cannot be read. */
  private async read(steps: readonly Step[]): Promise<ReadBlock[]> {
    const blocks: ReadBlock[] = [];
    let bytes = 0;
    let since = performance.now();
    for (const step of steps) {
      if (bytes > READ_BYTES || this.stopping) break;
      try {
        blocks.push(await this.readOne(step));
      } catch (error) {
        // The blocks before it are written first; the next round reports the error.
        if (error instanceof BlockFileError && blocks.length > 0) break;
        throw error;
      }
      const { block, undo } = blocks.at(-1)!;
      bytes += block.raw.length + undo.length;
      since = await yieldIfDue(since, TURN_MS);
    }
    return blocks;
  }

  private async readOne(step: Step): Promise<ReadBlock> {
    const { chain } = this.deps;
    const { headers } = chain.index;
    const block = await chain.readBlock(step.id);
    const parent = headers.prev(step.id);
    if (parent === NO_HEADER) return { ...step, block, undo: Buffer.alloc(0) };
    const position = headers.undoPosition(step.id);
    return { ...step, block, undo: await chain.deps.files.readUndo(position, headers.hash(parent)) };
  }

  /** Runs in the chain's queue: writes blocks and removes them from the list until its time is used up. */
  private async write(blocks: ReadBlock[]): Promise<void> {
    const { chain, flusher } = this.deps;
    const began = performance.now();
    do {
      const next = blocks.shift()!;
      // The chain may have moved since the block was chosen.
      if (chain.index.active.contains(next.id) !== next.isForward) continue;
      await this.writeBlock(next);
      await flusher.afterBlock();
      for (const tracked of this.behind()) this.noteSynced(tracked);
    } while (blocks.length > 0 && performance.now() - began < TURN_MS);
    if (this.behind().length === 0) await flusher.flush();
    else await flusher.afterConnecting(chain.isInitialDownload());
    this.tellProgress();
  }

  private async writeBlock({ id, isForward, block, undo }: ReadBlock): Promise<void> {
    const { store, onPoint, index } = this.deps.chain.deps;
    const height = index.headers.height(id);
    const rows = store.begin();
    try {
      if (isForward) {
        const resolved = resolvedFromUndo(block.parsed, undo);
        for (const tracked of this.behind()) await tracked.connect(rows, block, height, resolved);
      } else {
        for (const tracked of this.behind()) await tracked.disconnect(rows, block, height, undo);
      }
      store.commit(rows);
    } catch (error) {
      await store.discard(rows);
      throw error;
    }
    onPoint('fill:block-written');
  }

  /** Reports the progress of the index that is furthest behind. */
  private tellProgress(): void {
    const { chain } = this.deps;
    const behind = this.behind();
    if (behind.length === 0) return;
    const last = behind.reduce((a, b) => (this.heightOf(b) < this.heightOf(a) ? b : a));
    const what = behind.length === 1 ? last.index.name : `${behind.length} indexes`;
    chain.events.emit('backgroundProgress', replayProgress(`Building ${what}`, chain, this.idOf(last)));
  }

  /** Marks the indexes whose next block cannot be read as failed. Other indexes may be past that block. */
  private fail({ id, isForward }: Step, error: BlockFileError): void {
    const last = isForward ? this.deps.chain.index.headers.prev(id) : id;
    for (const tracked of this.behind()) {
      if (this.idOf(tracked) !== last) continue;
      tracked.failure = error.message;
      this.deps.warn(`${tracked.index.name} cannot be filled: ${error.message}`);
    }
  }

  /** Whether an index on a stale branch can be disconnected to the fork. */
  private canReturn(tracked: TrackedIndex): boolean {
    const { active, headers } = this.deps.chain.index;
    if (tracked.lastBlock === null) return true;
    let id = this.idOf(tracked);
    if (id === NO_HEADER) return false;
    for (; id !== NO_HEADER && !active.contains(id); id = headers.prev(id))
      if (!headers.hasStatus(id, STATUS.haveData | STATUS.haveUndo)) return false;
    return true;
  }

  /** Height of the lowest block that the index needs and that is missing; null when there is none. */
  private firstMissing(tracked: TrackedIndex): number | null {
    if (tracked.synced) return null;
    const { active, headers } = this.deps.chain.index;
    const fork = active.findFork(this.idOf(tracked));
    for (let height = fork === NO_HEADER ? 0 : headers.height(fork) + 1; height <= active.height; height++)
      if (!headers.hasStatus(active.at(height), STATUS.haveData)) return height;
    return null;
  }
}

function prunedBeyond(name: string, height: number): FolderError {
  return new FolderError(
    `Block ${height}, which -${name} needs to be filled, was pruned. You need to rebuild the database using -reindex, which will redownload the entire blockchain, or to start without -${name}.`,
  );
}
