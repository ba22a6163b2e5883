/**
 * Fills the indexes that are behind the tip from the block files, in the background. An index is behind if it was just
 * enabled, was disabled for a while, or has rows of an older version. Blocks are read ahead in the background. Their rows
 * are written within the queue that serializes changes of the chain, a few milliseconds at a time. An index that reaches the
 * tip is in sync from that commit on, and is then updated with each new block (`TrackedIndex`). A reorg above the position
 * of an index does not affect it. An index on a stale branch is first disconnected to the fork by undo data. Source: lbrycrd
 * index/base.cpp `BaseIndex::ThreadSync`.
 */
import type { Chain } from '../chain/chain.js';
import type { Flusher } from '../chain/flusher.js';
import { FolderError } from '../chain/open/folderIdentity.js';
import type { LoadedBlock } from '../chain/blocks/loadedBlock.js';
import { replayProgress } from '../chain/progress.js';
import { BlockFileError } from '../store/files/blockFiles.js';
import { settleContributors } from '../chain/connect/connectBlock.js';
import { resolvedFromUndo } from '../store/cache/coinRow.js';
import { NO_HEADER, STATUS } from '../store/files/headerTable.js';
import { yieldIfDue } from '../scheduler/yield.js';
import type { Logger } from '../util/logging.js';
import { letOthersWork } from '../scheduler/pace.js';
import type { IndexStatus, TrackedIndex } from './chainIndex.js';

/** Approximate maximum time for which one step of a fill occupies the chain's queue and the event loop. */
const TURN_MS = 4;
/**
 * Maximum number and total size of blocks that are read together. Twice as many are in memory, because the next blocks are read
 * while blocks are written. Besides the rows that wait for a flush, they take most of the memory of a fill.
 */
const READ_BLOCKS = 64;
const READ_BYTES = 4 << 20;

export interface FillDeps {
  readonly chain: Chain;
  readonly flusher: Pick<Flusher, 'pruned' | 'flush' | 'afterBlock' | 'afterConnecting'>;
  readonly log: Logger;
  /** Shows a warning to the operator and writes it to the log. */
  readonly warn: (message: string) => void;
  /** Maximum number of blocks that are read together. Tests set fewer. */
  readonly mostBlocks?: number;
}

/**
 * The next block to process for an index: usually the block above the index's position. If the position is on a stale
 * branch, it is the last block of the index, which must be disconnected.
 */
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
  /** Blocks that are being read while earlier ones are written: id of the first one. Null if reading failed. */
  private ahead: { readonly first: number; readonly blocks: Promise<ReadBlock[] | null> } | null = null;
  /** Receives unexpected errors. Set by `start`, null before. */
  private onBug: ((error: unknown) => void) | null = null;

  constructor(deps: FillDeps, indexes: readonly TrackedIndex[]) {
    this.deps = deps;
    this.indexes = indexes;
    this.mostBlocks = deps.mostBlocks ?? READ_BLOCKS;
    for (const tracked of indexes) tracked.onLost = () => this.goOn();
  }

  /**
   * Must be called after the chain is opened and before block files are pruned. Marks the indexes that are at the tip as in
   * sync. Drops the rows of indexes that cannot continue from their position. Throws `FolderError` when the files lack
   * blocks that an index needs.
   */
  async prepare(): Promise<void> {
    const { chain, flusher } = this.deps;
    for (const tracked of this.indexes) {
      if (!this.canReturn(tracked)) {
        const { name } = tracked.index;
        this.deps.log.info(`${name} is on a branch whose blocks are missing, and is rebuilt`);
        await chain.change(() => tracked.drop(chain.deps.store, () => flusher.flush()));
      }
      this.noteSynced(tracked);
      const missing = flusher.pruned && !this.waits(tracked) ? this.firstMissing(tracked) : null;
      if (missing !== null) throw prunedBeyond(tracked.index.name, missing);
    }
  }

  /** Returns the status of each index, in the order of the indexes. */
  statuses(): IndexStatus[] {
    return this.indexes.map((tracked) => {
      const waitsFor = tracked.failure === null ? this.whyWaiting(tracked) : null;
      return {
        name: tracked.index.name,
        synced: tracked.isReadable,
        height: tracked.isReadable ? this.deps.chain.height : Math.max(0, this.heightOf(tracked)),
        failure: tracked.failure ?? waitsFor,
        ...(waitsFor !== null && { isWaiting: true }),
      };
    });
  }

  /**
   * Lowest height that an index still has to read. Blocks from this height on must not be pruned. Infinity if no index needs
   * blocks.
   */
  neededFrom(): number {
    const { active, headers } = this.deps.chain.index;
    const forks = this.unfinished().map((tracked) => active.findFork(this.idOf(tracked)));
    return Math.min(...forks.map((fork) => (fork === NO_HEADER ? 0 : headers.height(fork) + 1)));
  }

  /** Starts the fill in the background. File errors are shown to the operator; other errors are passed to `onBug`. */
  start(onBug: (error: unknown) => void): void {
    this.onBug = onBug;
    for (const tracked of this.behind()) {
      const from = this.heightOf(tracked) + 1;
      this.deps.log.info(`${tracked.index.name} is built in the background from height ${from}`);
    }
    this.running = this.run().catch(onBug);
  }

  /** Starts the fill again after an index lost its rows, or after the blocks that an index needs became available. */
  private goOn(): void {
    const { onBug } = this;
    if (onBug === null || this.stopping) return;
    this.running = this.running.then(() => this.run()).catch(onBug);
  }

  /** Stops filling indexes. Resolves when the last write has finished. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.running;
  }

  private async run(): Promise<void> {
    try {
      while (!this.stopping && (await this.round()));
    } finally {
      await this.ahead?.blocks;
      this.ahead = null;
      this.deps.chain.events.emit('backgroundProgress', null);
    }
  }

  /** Reads some blocks and writes the index rows of these blocks. Returns whether there may be more blocks. */
  async round(): Promise<boolean> {
    for (const tracked of this.indexes) if (tracked.isLost) await this.dropLost(tracked);
    const steps = this.nextSteps();
    if (steps.length === 0) return false;
    let blocks: ReadBlock[];
    try {
      blocks = await this.takeAhead(steps);
    } catch (error) {
      if (!(error instanceof BlockFileError)) throw error;
      this.fail(steps[0]!, error);
      return true;
    }
    this.readAhead(blocks);
    while (blocks.length > 0 && !this.stopping) {
      const began = performance.now();
      try {
        await this.deps.chain.change(() => this.write(blocks));
      } catch {
        // The error needs no report here: the chain has reported it, and the node stops.
        return false;
      }
      await letOthersWork(performance.now() - began);
    }
    return true;
  }

  /** Returns the blocks that were read ahead if they begin with the first of these steps. Otherwise reads blocks. */
  private async takeAhead(steps: readonly Step[]): Promise<ReadBlock[]> {
    const { ahead } = this;
    this.ahead = null;
    const { id, isForward } = steps[0]!;
    const isNext = ahead !== null && ahead.first === id && isForward;
    return (isNext ? await ahead.blocks : null) ?? this.read(steps);
  }

  /** Starts to read the blocks that follow these blocks, which are written meanwhile. */
  private readAhead(blocks: readonly ReadBlock[]): void {
    const { active, headers } = this.deps.chain.index;
    const last = blocks.at(-1);
    if (last === undefined || !last.isForward || !active.contains(last.id)) return;
    const steps = this.stepsFrom(headers.height(last.id) + 1);
    if (steps.length === 0) return;
    // After an error the blocks are read again when they are needed. The error is handled there.
    const reading = this.read(steps).catch(() => null);
    this.ahead = { first: steps[0]!.id, blocks: reading };
  }

  private async dropLost(tracked: TrackedIndex): Promise<void> {
    const { chain, flusher, log } = this.deps;
    log.info(`${tracked.index.name} cannot follow a reorganisation of this depth, and is rebuilt`);
    // Rows are deleted in several steps. If the node stops before the last one, the next start deletes the remaining rows.
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

  /** Unfinished indexes (behind the tip) whose blocks are available. */
  private behind(): TrackedIndex[] {
    return this.unfinished().filter((tracked) => !this.waits(tracked));
  }

  /** Whether the index must wait, because it needs blocks below a loaded snapshot that are not validated yet. */
  private waits(tracked: TrackedIndex): boolean {
    return this.heightOf(tracked) < this.deps.chain.index.snapshotHeight;
  }

  private whyWaiting(tracked: TrackedIndex): string | null {
    if (tracked.synced || !this.waits(tracked)) return null;
    return (
      'It will be built when the blocks up to the snapshot, at height ' +
      `${this.deps.chain.index.snapshotHeight}, are validated.`
    );
  }

  /** Continues to fill the indexes that waited for the blocks below a snapshot. Must be called when these blocks are on disk. */
  resume(): void {
    this.goOn();
  }

  private idOf({ lastBlock }: TrackedIndex): number {
    return lastBlock === null ? NO_HEADER : this.deps.chain.index.headers.find(lastBlock);
  }

  /** Height of the last block in the index; -1 if it has none. */
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

  /** Next blocks for the index that is furthest behind. Other indexes also process a block if it follows their position. */
  private nextSteps(): Step[] {
    const { active } = this.deps.chain.index;
    const behind = this.behind();
    if (behind.length === 0) return [];
    for (const tracked of behind) {
      const id = this.idOf(tracked);
      if (id !== NO_HEADER && !active.contains(id)) return [{ id, isForward: false }];
    }
    return this.stepsFrom(Math.min(...behind.map((tracked) => this.heightOf(tracked))) + 1);
  }

  /** The blocks of the active chain from a height on, as many as are read together. */
  private stepsFrom(from: number): Step[] {
    const { active } = this.deps.chain.index;
    const steps: Step[] = [];
    for (let height = from; height <= active.height && steps.length < this.mostBlocks; height++)
      steps.push({ id: active.at(height), isForward: true });
    return steps;
  }

  /** Reads the first blocks of `steps`, up to the size limit. Throws `BlockFileError` when the first one cannot be read. */
  private async read(steps: readonly Step[]): Promise<ReadBlock[]> {
    const blocks: ReadBlock[] = [];
    let bytes = 0;
    let since = performance.now();
    for (const step of steps) {
      if (bytes > READ_BYTES || this.stopping) break;
      try {
        blocks.push(await this.readOne(step));
      } catch (error) {
        // The blocks that were read before the error are written first. The next round reads the failing block again and reports
        // the error.
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
    const block = await chain.readNextBlock(step.id);
    const parent = headers.prev(step.id);
    if (parent === NO_HEADER) return { ...step, block, undo: Buffer.alloc(0) };
    const position = headers.undoPosition(step.id);
    return { ...step, block, undo: await chain.deps.files.readNextUndo(position, headers.hash(parent)) };
  }

  /**
   * Writes the index rows of blocks and removes the blocks from the list, until the time of one step is used up. Runs in the
   * queue that serializes changes of the chain.
   */
  private async write(blocks: ReadBlock[]): Promise<void> {
    const { chain, flusher } = this.deps;
    const began = performance.now();
    do {
      const next = blocks.shift()!;
      // A reorg may have happened since the block was chosen. In that case the block is skipped.
      if (chain.index.active.contains(next.id) !== next.isForward) continue;
      await this.writeBlock(next);
      await flusher.afterBlock();
    } while (blocks.length > 0 && performance.now() - began < TURN_MS);
    // The indexes must not wait for later blocks, because in the pause other tasks may change the chain.
    await settleContributors(chain.deps);
    for (const tracked of this.behind()) tracked.endRun();
    for (const tracked of this.behind()) this.noteSynced(tracked);
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
        for (const tracked of this.behind())
          await tracked.connect(rows, block, height, resolved, undefined, Infinity);
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

  /** Reports the progress of the index with the lowest height. */
  private tellProgress(): void {
    const { chain } = this.deps;
    const behind = this.behind();
    if (behind.length === 0) return;
    const last = behind.reduce((a, b) => (this.heightOf(b) < this.heightOf(a) ? b : a));
    const what = behind.length === 1 ? last.index.name : `${behind.length} indexes`;
    chain.events.emit('backgroundProgress', replayProgress(`Building ${what}`, chain, this.idOf(last)));
  }

  /**
   * Marks the indexes whose next block cannot be read as failed. Other indexes continue if they do not need that block any
   * more.
   */
  private fail({ id, isForward }: Step, error: BlockFileError): void {
    const last = isForward ? this.deps.chain.index.headers.prev(id) : id;
    for (const tracked of this.behind()) {
      if (this.idOf(tracked) !== last) continue;
      tracked.failure = error.message;
      this.deps.warn(`${tracked.index.name} cannot be built: ${error.message}`);
    }
  }

  /**
   * Whether an index can return to the active chain: it is on the active chain, or the blocks and undo data to be
   * disconnected are on disk.
   */
  private canReturn(tracked: TrackedIndex): boolean {
    const { active, headers } = this.deps.chain.index;
    if (tracked.lastBlock === null) return true;
    let id = this.idOf(tracked);
    if (id === NO_HEADER) return false;
    for (; id !== NO_HEADER && !active.contains(id); id = headers.prev(id))
      if (!headers.hasStatus(id, STATUS.haveData | STATUS.haveUndo)) return false;
    return true;
  }

  /** Height of the lowest block that the index needs and whose data is missing; null if none is missing. */
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
    `Block ${height}, which -${name} needs, was pruned. Rebuild the database with -reindex, which ` +
      `downloads the whole chain again, or start without -${name}.`,
  );
}
