/**
 * Steps that update the search index from the claim index: the first build, applying several blocks together, and rewinding
 * after a reorg. A document is always rebuilt from the claim at the current tip, which may be above the applied block. The
 * order of blocks therefore matters only for scores. `follower.ts` decides when a step runs.
 */
import { hashToHex } from '../../util/bytes.js';
import type { ClaimIndexReader } from '../../index/claims/claimReader.js';
import type { Logger } from '../../util/logging.js';
import type { ClaimSources } from '../document/documentSource.js';
import { FirstBuild, type BuildProgress } from './firstBuild.js';
import { claimIdsIn, FollowedClaims, scoreOf, type FollowedChain } from './followedClaims.js';
import type { BlockId, BlockStep, BuildState, IndexState, IndexWriter } from './indexChange.js';
import { NotedBlocks } from './notedBlocks.js';

/** Position of the search index in the chain and progress of a build. */
export interface IndexPlace {
  /** Tip of the index; null until the first build is complete. */
  readonly tip: BlockId | null;
  readonly documents: number;
  /** Progress of the first build in this run; null if no build is running. */
  readonly building: BuildProgress | null;
}

export interface IndexStepsDeps {
  readonly reader: ClaimIndexReader;
  readonly chain: FollowedChain;
  readonly writer: IndexWriter;
  readonly logger: Logger;
  /** See `FollowerOptions`. */
  readonly keptBlocks: number;
  readonly isClosed: () => boolean;
  readonly place: () => IndexPlace;
  readonly show: (changes: Partial<IndexPlace>) => void;
  /** Called when the tip of the index has changed. */
  readonly onMoved: () => void;
}

/**
 * Maximum number of blocks that are applied together, and number of changed claims above which no further block is added.
 * Arbitrary.
 */
export const BLOCKS_TOGETHER = 16;
const CLAIMS_TOGETHER = 1000;
const TOO_DEEP = 'a reorganisation was deeper than it can follow';
/** Position of an empty index: below the genesis block. */
const NOWHERE: BlockId = { height: -1, hash: '' };

export class IndexSteps {
  readonly claims: FollowedClaims;
  private readonly deps: IndexStepsDeps;
  private readonly noted: NotedBlocks;
  /** Current maximum number of blocks in the next step. */
  private together = BLOCKS_TOGETHER;

  constructor(deps: IndexStepsDeps) {
    this.deps = deps;
    this.claims = new FollowedClaims(deps.reader, deps.chain);
    this.noted = new NotedBlocks(this.claims, deps.writer, deps.keptBlocks);
  }

  private get tip(): BlockId | null {
    return this.deps.place().tip;
  }

  /** Starts with an index in state `state`. Builds the index if it is incomplete or corrupt. */
  async begin(state: IndexState, isCorrupt: boolean): Promise<void> {
    await this.noted.load((state.tip ?? state.build?.base ?? NOWHERE).height);
    if (isCorrupt && state.tip !== null) await this.rebuild('it is corrupt');
    else if (state.tip === null || state.build !== null) await this.build();
  }

  /** Takes one step towards the tip of the claim index. Returns false if there is nothing to do. */
  async step(): Promise<boolean> {
    const { tip, claims, noted } = this;
    // If the index is near the tip, no records of blocks are written in advance, because they are written together with
    // the claims of the applied blocks.
    const isNear =
      tip !== null && claims.height > tip.height && claims.height <= tip.height + BLOCKS_TOGETHER;
    if (!isNear) await this.noteAhead();
    if (tip === null) return false;
    if (noted.hasLost(tip)) {
      await this.rebuild(TOO_DEEP);
      return true;
    }
    const { abandoned } = noted;
    if (isNear && (abandoned.length > 0 || !claims.isActive(tip))) await this.noteAhead();
    if (!claims.isActive(tip)) return this.rewind(noted.abandoned);
    if (abandoned.length > 0) {
      const read = await this.read(await noted.claimIdsOf(abandoned));
      if (!claims.isActive(tip)) return true;
      await this.deps.writer.refresh(abandoned, read);
      this.deps.show({ documents: (await this.deps.writer.state()).documents });
      noted.forget(abandoned);
      return true;
    }
    if (tip.height >= claims.height) return false;
    await this.follow(tip.height + 1);
    return true;
  }

  /** Applies the block at this height, together with the blocks after it that are available. */
  private async follow(height: number): Promise<void> {
    const { claims, noted } = this;
    const began = performance.now();
    const { disconnects } = claims;
    const steps = await this.stepsFrom(height);
    if (steps === 'gone')
      return this.rebuild('the claim index no longer stores the changes of the next blocks');
    const last = steps.at(-1);
    // The chain has changed to another branch during the read. The next step handles the change.
    if (last === undefined) return;
    for (const { block } of steps) noted.add(block);
    await this.noteAhead();
    // A block that was disconnected before it was recorded may have ended claims that these blocks changed. They must be
    // read again.
    if (claims.disconnects !== disconnects) return this.giveUp();
    const touched = new Set(steps.flatMap(({ block }) => block.claimIds));
    const read = await this.read([...touched]);
    // The read data may belong to a branch that does not include these blocks, so it is discarded.
    if (!steps.every(({ block }) => claims.isActive(block))) return this.giveUp();
    const documents = await this.deps.writer.applyBlocks(steps, read);
    noted.settle();
    this.together = Math.min(2 * this.together, BLOCKS_TOGETHER);
    this.deps.logger.debug('search', () => {
      const blocks = steps.length === 1 ? `block ${height}` : `blocks ${height} to ${last.block.height}`;
      const tookMs = performance.now() - began;
      return `Search index: ${blocks} with ${touched.size} claims in ${tookMs.toFixed(0)} ms`;
    });
    this.moved({ height: last.block.height, hash: last.block.hash }, documents);
  }

  /**
   * Discards the blocks that were read, because the chain is changing its branch. The next steps read them again, starting
   * with a single block.
   */
  private giveUp(): void {
    this.noted.giveUp();
    this.together = 1;
  }

  /** Returns the changes of the block at this height and of the blocks after it, as many as are written in one transaction. */
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
      const claimIds = claimIdsIn(changes);
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
      await this.rebuild(TOO_DEEP);
      return true;
    }
    const ids = await noted.claimIdsOf(noted.above(fork.height));
    const read = await this.claims.read(ids, () => noted.noteAhead(fork.height, true));
    if (!this.claims.isActive(fork)) return true;
    await this.deps.writer.rewind(fork, abandoned, read);
    this.deps.logger.debug(
      'search',
      `Search index: disconnected blocks ${from.height} down to ${fork.height}`,
    );
    noted.forget(abandoned);
    this.moved(fork, this.deps.place().documents);
    this.deps.show({ documents: (await this.deps.writer.state()).documents });
    return true;
  }

  private async rebuild(reason: string): Promise<void> {
    this.deps.logger.info(`The search index is rebuilt: ${reason}`);
    this.deps.show({ tip: null });
    await this.build(false);
  }

  /**
   * Returns the base block of a first build, after which blocks are applied one by one: as far back as records of blocks are
   * stored and the claim index has their changes.
   */
  private async findBase(): Promise<BlockId> {
    const { claims } = this;
    const lowest = Math.max(NOWHERE.height, claims.height - this.deps.keptBlocks);
    let { height } = claims;
    while (height > lowest && typeof (await claims.changesAt(height, claims.hashAt(height))) !== 'string')
      height--;
    return height < 0 ? NOWHERE : { height, hash: claims.hashAt(height) ?? '' };
  }

  /**
   * Whether so many blocks were connected since an interrupted build began that a new build takes less time. This happens if the
   * build began before a sync, during which claims cannot be read.
   */
  private async isOutrun({ base, after, hasDocuments }: BuildState): Promise<boolean> {
    const { claims } = this;
    const isEmpty = after === null && !hasDocuments;
    if (isEmpty) return claims.height - base.height > this.deps.keptBlocks;
    const next = base.height + 1;
    return (await claims.changesAt(next, claims.hashAt(next))) === 'gone';
  }

  /** Runs the first build, or continues an interrupted one. */
  private async build(isResumed = true): Promise<void> {
    const { claims, noted } = this;
    const { writer, logger, isClosed, show } = this.deps;
    let { build } = await writer.state();
    if (!isResumed || build === null || !claims.isActive(build.base) || (await this.isOutrun(build))) {
      const base = await this.findBase();
      const isAgain = isResumed && build !== null;
      await writer.startBuild(base);
      noted.reset([base]);
      build = (await writer.state()).build!;
      logger.info(`The search index is being built ${isAgain ? 'from a later block' : 'for the first time'}`);
    }
    const first = new FirstBuild({
      claims,
      noted,
      writer,
      logger,
      isClosed,
      onProgress: (building) => show({ building }),
    });
    if (!(await first.run(build))) return;
    const { documents } = await writer.state();
    show({ building: null });
    this.moved(build.base, documents);
    logger.info(`The search index is built: ${documents} claims`);
  }

  private noteAhead(): Promise<void> {
    return this.noted.noteAhead(this.tip?.height ?? NOWHERE.height);
  }

  /** Reads claims as of the current tip, after recording (noting) all blocks up to the tip. */
  private read(ids: readonly string[]): Promise<ClaimSources> {
    return this.claims.read(ids, () => this.noteAhead());
  }

  private moved(tip: BlockId, documents: number): void {
    this.deps.show({ tip, documents });
    this.deps.onMoved();
  }
}
