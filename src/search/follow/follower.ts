/**
 * Keeps the search index, which has its own tip, up to date with the claim index. This class decides when to follow and when
 * to retry, and holds the status and the callers that wait for the tip. `indexSteps.ts` implements the steps.
 */
import { ClaimIndexNotReadyError } from '../../index/claims/claimIndexQueries.js';
import type { ClaimIndexReader } from '../../index/claims/claimReader.js';
import { BlockFileError } from '../../store/files/blockFiles.js';
import { DatabaseCorruptionError } from '../../store/leveldb/levelDb.js';
import type { Logger } from '../../util/logging.js';
import type { FollowedChain } from './followedClaims.js';
import { UNKNOWN_STATUS, type FollowerStatus } from './followerStatus.js';
import { KEPT_BLOCKS, type BlockId, type IndexWriter } from './indexChange.js';
import { BLOCKS_TOGETHER, IndexSteps } from './indexSteps.js';
import { SearchError, ThreadEndedError } from '../query/searchError.js';

export interface FollowerOptions {
  /** Number of latest blocks for which the data to disconnect them is stored. A deeper reorg rebuilds the index. */
  readonly keptBlocks?: number;
  /** Called when the follower's status has changed. */
  readonly onStatus?: () => void;
}

/** Milliseconds before a retry after a failure. Arbitrary. */
const RETRY_MS = 5000;
/**
 * If a block arrives within this number of milliseconds after the last update of the index, the next update waits for
 * further blocks. Arbitrary.
 */
const PAUSE_MS = 1000;
/**
 * Maximum number of milliseconds for which blocks are collected before an update of the index. Arbitrary: searches wait
 * several times as long for the index.
 */
const GATHER_MS = 50;

/** Types of errors after which a retry cannot succeed. */
const STUCK = [BlockFileError, DatabaseCorruptionError, ThreadEndedError];

export class SearchFollower {
  private readonly steps: IndexSteps;
  private readonly writer: IndexWriter;
  private readonly logger: Logger;
  private readonly onStatus: () => void;
  private shown = UNKNOWN_STATUS;
  /**
   * Whether no other process has changed the index since this follower last wrote it. If false, the state and the records of
   * blocks are read from the writer.
   */
  private isKnown = false;
  /** Whether another node may write the index as soon as this node loses its lock. The state is then read before each step. */
  private isShared = false;
  private running: Promise<void> | null = null;
  private isWanted = false;
  private isCorrupt = false;
  private isScrubbing = false;
  private isClosed = false;
  private retry: NodeJS.Timeout | null = null;
  private gathering: NodeJS.Timeout | null = null;
  private followedMs = -Infinity;
  private waiters: { readonly done: () => void }[] = [];

  constructor(
    reader: ClaimIndexReader,
    chain: FollowedChain,
    writer: IndexWriter,
    logger: Logger,
    { keptBlocks = KEPT_BLOCKS - 50, onStatus = () => {} }: FollowerOptions = {},
  ) {
    this.writer = writer;
    this.logger = logger;
    this.onStatus = onStatus;
    this.steps = new IndexSteps({
      reader,
      chain,
      writer,
      logger,
      keptBlocks,
      isClosed: () => this.isClosed,
      place: () => this.shown,
      show: (changes) => this.show(changes),
      onMoved: () => {
        this.followedMs = performance.now();
        this.wake();
      },
    });
  }

  get status(): FollowerStatus {
    return this.shown;
  }

  private get tip(): BlockId | null {
    return this.shown.tip;
  }

  private show(changes: Partial<FollowerStatus>): void {
    this.shown = { ...this.shown, ...changes };
    this.onStatus();
  }

  /** Starts to update the index in the background. Must be called when the claim index may have changed. */
  poke(): void {
    this.isWanted = true;
    if (this.isClosed || this.running !== null || this.retry !== null) return;
    this.running = this.run().finally(() => (this.running = null));
  }

  /**
   * Starts to update the index soon. Must be called when the tip has changed. Blocks in quick succession are applied
   * together, after at most `GATHER_MS`. After a reorg the update starts immediately.
   */
  pokeSoon(): void {
    const { tip, steps, running, followedMs } = this;
    const isLeft = tip !== null && !steps.claims.isActive(tip);
    if (isLeft || (running === null && performance.now() - followedMs >= PAUSE_MS)) return this.poke();
    if (this.isClosed || this.gathering !== null) return;
    this.gathering = setTimeout(() => {
      this.gathering = null;
      this.poke();
    }, GATHER_MS);
    this.gathering.unref();
  }

  /** Rebuilds the index because a reader found it corrupt. Does nothing if a build is already in progress. */
  remake(): void {
    if (this.tip === null) return;
    this.isCorrupt = true;
    this.poke();
  }

  /** Checks the next part of a complete index for corruption, and rebuilds a corrupt index. Other errors are ignored. */
  async scrub(): Promise<void> {
    if (this.tip === null || this.isClosed || this.isScrubbing || this.writer.scrub === undefined) return;
    this.isScrubbing = true;
    try {
      const corruption = await this.writer.scrub();
      if (corruption === null) return;
      this.logger.warn(`The search index is corrupt: ${corruption}`);
      this.remake();
    } catch (error) {
      this.logger.debug(
        'search',
        () => `Search index: the check for corruption failed: ${(error as Error).message}`,
      );
    } finally {
      this.isScrubbing = false;
    }
  }

  /**
   * Follows until the index has reached the tip of the claim index. Throws if a step fails, whereas `poke` records failures
   * in the status.
   */
  async sync(): Promise<void> {
    await this.bringNear(() => false);
  }

  /** Follows until the index has reached the tip, or until `mayLeave` returns true after a step. */
  private async bringNear(mayLeave: () => boolean): Promise<void> {
    if (!this.steps.claims.reader.isSynced || this.isClosed) return;
    const isKnown = this.isKnown && !this.isCorrupt;
    this.isKnown = false;
    if (!isKnown && !(await this.learn())) return this.wake();
    while (!this.isClosed && (await this.steps.step()) && !mayLeave());
    this.isKnown = !this.isShared;
  }

  /** Reads the state of the index, and builds the index if it is incomplete. Returns false if another node writes it. */
  private async learn(): Promise<boolean> {
    const state = await this.writer.state();
    this.show({ tip: state.tip, documents: state.documents });
    this.isShared = state.isShared === true;
    if (state.isKeptByOther === true) return false;
    if (state.corruption !== undefined && state.build === null && state.tip === null)
      this.logger.warn(
        `The file of the search index was deleted, because it is corrupt: ${state.corruption}`,
      );
    await this.steps.begin(state, this.isCorrupt);
    this.isCorrupt = false;
    return true;
  }

  /** Starts to follow for a caller that waits for the tip. If blocks are being collected, they are still followed together. */
  pokeIfIdle(): void {
    if (this.gathering === null) this.poke();
  }

  get isAtTip(): boolean {
    return this.tip !== null && this.isCurrent(this.tip);
  }

  /** Waits until the index has reached the tip of the claim index on the same branch, or for at most `timeoutMs`. */
  async waitForTip(timeoutMs: number): Promise<void> {
    if (this.tip === null || this.isCurrent(this.tip)) return;
    this.pokeIfIdle();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, timeoutMs);
      const waiter = { done };
      const list = this.waiters;
      function done() {
        clearTimeout(timer);
        const at = list.indexOf(waiter);
        if (at >= 0) list.splice(at, 1);
        resolve();
      }
      list.push(waiter);
    });
  }

  /** Stops following after the step that is running. */
  async close(): Promise<void> {
    this.isClosed = true;
    if (this.retry !== null) clearTimeout(this.retry);
    if (this.gathering !== null) clearTimeout(this.gathering);
    for (const waiter of [...this.waiters]) waiter.done();
    await this.running;
  }

  private async run(): Promise<void> {
    try {
      while (this.isWanted && !this.isClosed) {
        this.isWanted = false;
        await this.bringNear(() => this.isGathering);
        if (this.shown.failure !== null) this.show({ failure: null, isStuck: false });
      }
    } catch (error) {
      // While many blocks are connected, the claim index is behind the tip. It is followed when it has reached the tip.
      if (this.isClosed || error instanceof ClaimIndexNotReadyError) return;
      const { message } = error as Error;
      if (message !== this.shown.failure)
        this.logger.warn(`The search index could not be updated: ${message}`);
      // The index file was deleted. The tip is removed from the status, so that readers that have the file open do not use
      // it.
      const isGone = error instanceof SearchError && error.kind === 'corrupt';
      const isStuck = STUCK.some((kind) => error instanceof kind);
      this.show({ failure: message, isStuck, building: null, ...(isGone && { tip: null }) });
      this.retry = setTimeout(() => {
        this.retry = null;
        this.poke();
      }, RETRY_MS);
      this.retry.unref();
    }
  }

  /** Whether the missing blocks are so few that the follower waits and follows them together with the next ones. */
  private get isGathering(): boolean {
    const { tip, steps, gathering } = this;
    return gathering !== null && tip !== null && steps.claims.height < tip.height + BLOCKS_TOGETHER;
  }

  private isCurrent(tip: BlockId): boolean {
    return tip.height >= this.steps.claims.height && this.steps.claims.isActive(tip);
  }

  /** Wakes the callers that wait for the tip if the index has reached it. */
  private wake(): void {
    if (this.tip !== null && this.isCurrent(this.tip)) for (const waiter of [...this.waiters]) waiter.done();
  }
}
