/**
 * Keeps the search index beside the claim index, with a tip of its own: makes it for the first time, follows block by
 * block, goes back where the chain did. A document is always made anew of its claim as it is at the present tip, which may
 * be ahead of the block that is followed; so the order of blocks does not matter, only scores remember.
 */
import type { ClaimIndexReader } from '../index/claims/claimReader.js';
import { BlockFileError } from '../store/blockFiles.js';
import { DatabaseDamagedError } from '../store/levelDb.js';
import { hashToHex } from '../util/bytes.js';
import type { Logger } from '../util/logging.js';
import type { ClaimSources } from './documentSource.js';
import { FirstBuild, type BuildProgress } from './firstBuild.js';
import { FollowedClaims, scoreOf, type FollowedChain } from './followedClaims.js';
import { KEPT_BLOCKS, type BlockId, type BlockStep, type IndexWriter } from './indexChange.js';
import { NotedBlocks } from './notedBlocks.js';
import { SearchError } from './searchError.js';

export interface FollowerOptions {
  /** Blocks that are followed one by one behind a first build; a deeper reorganisation has the index built anew. */
  readonly keptBlocks?: number;
}

export interface FollowerStatus {
  /** Null until the first build is whole. */
  readonly tip: BlockId | null;
  readonly documents: number;
  /** Of the first build of this run; null when none is going on. */
  readonly building: BuildProgress | null;
  /** What ended following, until the next try; null while all is well. */
  readonly failure: string | null;
  /** Whether that is a block or a row which cannot be read, so that what the index has only grows older. */
  readonly isStuck: boolean;
}

/** Time after which a failure is tried again. Arbitrary. */
const RETRY_MS = 5000;
/** Blocks that are followed together at most, and claims that they touch from which on no more join. Arbitrary. */
const BLOCKS_TOGETHER = 16;
const CLAIMS_TOGETHER = 1000;
/** A block that comes so soon after others were followed waits for more. Arbitrary. */
const PAUSE_MS = 1000;
/** For how long. Arbitrary: searches wait several times as long for the index. */
const GATHER_MS = 50;
const TOO_DEEP = 'the chain was reorganised deeper than it can follow';
/** Where nothing is, below the genesis block. */
const NOWHERE: BlockId = { height: -1, hash: '' };

export class SearchFollower {
  private readonly claims: FollowedClaims;
  private readonly writer: IndexWriter;
  private readonly logger: Logger;
  private readonly keptBlocks: number;
  private readonly noted: NotedBlocks;
  private tip: BlockId | null = null;
  private documents = 0;
  private building: FollowerStatus['building'] = null;
  private failure: string | null = null;
  /** The index is as this follower left it; else the writer is asked for its state and notes. */
  private isKnown = false;
  /** Another node may write it as soon as this one has lost its hold of it. */
  private isShared = false;
  private running: Promise<void> | null = null;
  private isWanted = false;
  private isDamaged = false;
  private isStuck = false;
  private isScrubbing = false;
  private isClosed = false;
  private retry: NodeJS.Timeout | null = null;
  private gathering: NodeJS.Timeout | null = null;
  private followedMs = -Infinity;
  /** How many blocks the next step follows at most. */
  private together = BLOCKS_TOGETHER;
  private waiters: { readonly done: () => void }[] = [];

  constructor(
    reader: ClaimIndexReader,
    chain: FollowedChain,
    writer: IndexWriter,
    logger: Logger,
    { keptBlocks = KEPT_BLOCKS - 50 }: FollowerOptions = {},
  ) {
    this.claims = new FollowedClaims(reader, chain);
    this.writer = writer;
    this.logger = logger;
    this.keptBlocks = keptBlocks;
    this.noted = new NotedBlocks(this.claims, writer, keptBlocks);
  }

  get status(): FollowerStatus {
    const { tip, documents, building, failure, isStuck } = this;
    return { tip, documents, building, failure, isStuck };
  }

  /** To be called when the claim index may have moved. Following goes on in the background. */
  poke(): void {
    this.isWanted = true;
    if (this.isClosed || this.running !== null || this.retry !== null) return;
    this.running = this.run().finally(() => (this.running = null));
  }

  /**
   * To be called when the tip moved: of blocks that come fast several are followed together, after at most `GATHER_MS`. What
   * is of a branch that was left is not kept for so long.
   */
  pokeSoon(): void {
    const { tip, claims, running, followedMs } = this;
    const isLeft = tip !== null && !claims.isActive(tip);
    if (isLeft || (running === null && performance.now() - followedMs >= PAUSE_MS)) return this.poke();
    if (this.isClosed || this.gathering !== null) return;
    this.gathering = setTimeout(() => {
      this.gathering = null;
      this.poke();
    }, GATHER_MS);
    this.gathering.unref();
  }

  /** Somebody who read the index found it damaged: it is made anew, if it is not already. */
  remake(): void {
    if (this.tip === null) return;
    this.isDamaged = true;
    this.poke();
  }

  /** Checks the next part of the index, once it is whole; one that is damaged is made anew. Failures are of no account. */
  async scrub(): Promise<void> {
    if (this.tip === null || this.isClosed || this.isScrubbing || this.writer.scrub === undefined) return;
    this.isScrubbing = true;
    try {
      const damage = await this.writer.scrub();
      if (damage === null) return;
      this.logger.warn(`The search index is damaged: ${damage}`);
      this.remake();
    } catch (error) {
      this.logger.debug('search', () => `Search index: not checked: ${(error as Error).message}`);
    } finally {
      this.isScrubbing = false;
    }
  }

  /** Follows until the index is at the tip of the claim index. Failures are thrown; `poke` tells them in the status. */
  async sync(): Promise<void> {
    await this.bringNear(() => false);
  }

  /** Follows until the index is at the tip, or so near that it may be left there. */
  private async bringNear(mayLeave: () => boolean): Promise<void> {
    if (!this.claims.reader.isSynced || this.isClosed) return;
    const isKnown = this.isKnown && !this.isDamaged;
    this.isKnown = false;
    if (!isKnown && !(await this.learn())) return this.wake();
    while (!this.isClosed && (await this.step()) && !mayLeave());
    this.isKnown = !this.isShared;
  }

  /** Asks how the index is, and makes it where it is not whole; false when another node keeps it. */
  private async learn(): Promise<boolean> {
    const state = await this.writer.state();
    this.tip = state.tip;
    this.documents = state.documents;
    this.isShared = state.isShared === true;
    if (state.isKeptByOther === true) return false;
    if (state.damage !== undefined && state.build === null && state.tip === null)
      this.logger.warn(`The file of the search index is deleted: ${state.damage}`);
    await this.noted.load((state.tip ?? state.build?.base ?? NOWHERE).height);
    if (this.isDamaged && state.tip !== null) await this.buildAnew('it is damaged');
    else if (state.tip === null || state.build !== null) await this.build();
    this.isDamaged = false;
    return true;
  }

  /** Waits until the index is at the tip of the claim index, on the same branch, `timeoutMs` at most. */
  async waitForTip(timeoutMs: number): Promise<void> {
    if (this.tip === null || this.isCurrent(this.tip)) return;
    if (this.gathering === null) this.poke();
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

  /** Ends following after the step that is under way. */
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
        this.failure = null;
        this.isStuck = false;
      }
    } catch (error) {
      if (this.isClosed) return;
      const { message } = error as Error;
      if (message !== this.failure)
        this.logger.warn(`The search index could not be brought up to date: ${message}`);
      this.failure = message;
      this.isStuck = error instanceof BlockFileError || error instanceof DatabaseDamagedError;
      this.building = null;
      // The file is gone by now; those who still have it open should not answer from it.
      if (error instanceof SearchError && error.kind === 'damaged') this.tip = null;
      this.retry = setTimeout(() => {
        this.retry = null;
        this.poke();
      }, RETRY_MS);
      this.retry.unref();
    }
  }

  /** One step towards the claim index's tip; false when there is none to take. */
  private async step(): Promise<boolean> {
    const { tip, claims, noted } = this;
    // The notes of blocks that are followed go with their claims.
    const isNear =
      tip !== null && claims.height > tip.height && claims.height <= tip.height + BLOCKS_TOGETHER;
    if (!isNear) await this.noteAhead();
    if (tip === null) return false;
    if (noted.hasLost(tip)) {
      await this.buildAnew(TOO_DEEP);
      return true;
    }
    const { abandoned } = noted;
    if (isNear && (abandoned.length > 0 || !claims.isActive(tip))) await this.noteAhead();
    if (!claims.isActive(tip)) return this.rewind(noted.abandoned);
    if (abandoned.length > 0) {
      const read = await this.read(await noted.claimIdsOf(abandoned));
      if (!claims.isActive(tip)) return true;
      await this.writer.refresh(abandoned, read);
      this.documents = (await this.writer.state()).documents;
      noted.forget(abandoned);
      return true;
    }
    if (tip.height >= claims.height) return false;
    await this.follow(tip.height + 1);
    return true;
  }

  /** Follows the block of this height, and those behind it that are there. */
  private async follow(height: number): Promise<void> {
    const { claims, noted } = this;
    const began = performance.now();
    const { disconnects } = claims;
    const steps = await this.stepsFrom(height);
    if (steps === 'gone')
      return this.buildAnew('the claim index no longer knows what the next blocks changed');
    const last = steps.at(-1);
    // The chain has moved on another branch meanwhile: the next step sees it.
    if (last === undefined) return;
    for (const { block } of steps) noted.add(block);
    await this.noteAhead();
    // What of these blocks is no more alive may be so by a block that was left before it was noted.
    if (claims.disconnects !== disconnects) return this.giveUp();
    const touched = new Set(steps.flatMap(({ block }) => block.claimIds));
    const read = await this.read([...touched]);
    // What was read may be of a branch that leaves the chain below these blocks.
    if (!steps.every(({ block }) => claims.isActive(block))) return this.giveUp();
    this.documents = await this.writer.applyBlocks(steps, read);
    noted.settle();
    this.together = Math.min(2 * this.together, BLOCKS_TOGETHER);
    this.logger.debug('search', () => {
      const blocks = steps.length === 1 ? `block ${height}` : `blocks ${height} to ${last.block.height}`;
      const tookMs = performance.now() - began;
      return `Search index: ${blocks} with ${touched.size} claims in ${tookMs.toFixed(0)} ms`;
    });
    this.moved({ height: last.block.height, hash: last.block.hash });
  }

  /** The blocks that were read are followed by the next steps, beginning with one alone: the chain changes its branch. */
  private giveUp(): void {
    this.noted.giveUp();
    this.together = 1;
  }

  /** What the block of this height did, and those behind it, as many as are written together. */
  private async stepsFrom(first: number): Promise<BlockStep[] | 'gone'> {
    const { claims } = this;
    const steps: BlockStep[] = [];
    let count = 0;
    for (let height = first; height <= claims.height && count < CLAIMS_TOGETHER; height++) {
      if (steps.length === this.together) break;
      const hash = claims.hashAt(height);
      const changes = await claims.changesAt(height, hash);
      if (changes === 'gone') return steps.length === 0 ? 'gone' : steps;
      if (hash === null || changes === null) break;
      const ended = changes.deleted.map(hashToHex);
      const claimIds = [...new Set([...changes.touched.map(hashToHex), ...ended])];
      steps.push({ block: { height, hash, claimIds }, ended, scores: changes.trending.map(scoreOf) });
      count += claimIds.length;
    }
    return steps;
  }

  private async rewind(abandoned: readonly BlockId[]): Promise<boolean> {
    const { noted } = this;
    const from = this.tip!;
    const fork = noted.highestFollowedBelow(from.height);
    if (fork === null) {
      await this.buildAnew(TOO_DEEP);
      return true;
    }
    const ids = await noted.claimIdsOf(noted.above(fork.height));
    const read = await this.claims.read(ids, () => noted.noteAhead(fork.height, true));
    if (!this.claims.isActive(fork)) return true;
    await this.writer.rewind(fork, abandoned, read);
    this.logger.debug('search', `Search index: back from block ${from.height} to ${fork.height}`);
    noted.forget(abandoned);
    this.moved(fork);
    this.documents = (await this.writer.state()).documents;
    return true;
  }

  private async buildAnew(reason: string): Promise<void> {
    this.logger.info(`The search index is built anew: ${reason}`);
    this.tip = null;
    await this.build(false);
  }

  /** The block from which on each is followed by itself: as many as are kept and the claim index still knows. */
  private async findBase(): Promise<BlockId> {
    const { claims } = this;
    const lowest = Math.max(NOWHERE.height, claims.height - this.keptBlocks);
    let { height } = claims;
    while (height > lowest && typeof (await claims.changesAt(height, claims.hashAt(height))) !== 'string')
      height--;
    return height < 0 ? NOWHERE : { height, hash: claims.hashAt(height) ?? '' };
  }

  /** The first build, or the rest of one that was begun. */
  private async build(isResumed = true): Promise<void> {
    const { claims, noted, writer, logger } = this;
    let { build } = await writer.state();
    if (!isResumed || build === null || !claims.isActive(build.base)) {
      const base = await this.findBase();
      await writer.startBuild(base);
      noted.reset([base]);
      build = (await writer.state()).build!;
      logger.info('The search index is being built for the first time');
    }
    const first = new FirstBuild({
      claims,
      noted,
      writer,
      logger,
      isClosed: () => this.isClosed,
      onProgress: (progress) => (this.building = progress),
    });
    if (!(await first.run(build))) return;
    this.documents = (await writer.state()).documents;
    this.building = null;
    this.moved(build.base);
    logger.info(`The search index is built: ${this.documents} claims`);
  }

  /** Few blocks are left, and are about to be followed with those that come. */
  private get isGathering(): boolean {
    const { tip, claims, gathering } = this;
    return gathering !== null && tip !== null && claims.height < tip.height + BLOCKS_TOGETHER;
  }

  private noteAhead(): Promise<void> {
    return this.noted.noteAhead(this.tip?.height ?? NOWHERE.height);
  }

  /** Claims as they are at the present tip, whose block is noted then. */
  private read(ids: readonly string[]): Promise<ClaimSources> {
    return this.claims.read(ids, () => this.noteAhead());
  }

  private isCurrent(tip: BlockId): boolean {
    return tip.height >= this.claims.height && this.claims.isActive(tip);
  }

  private moved(tip: BlockId): void {
    this.tip = tip;
    this.followedMs = performance.now();
    this.wake();
  }

  /** Lets those go on who wait for the tip. */
  private wake(): void {
    if (this.tip !== null && this.isCurrent(this.tip)) for (const waiter of [...this.waiters]) waiter.done();
  }
}
