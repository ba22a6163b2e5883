/** The first build of the search index: all claims, then the scores of all blocks. It can be interrupted and continued. */
import { hashFromHex, hashToHex, type Bytes } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import { scoreOf, type FollowedClaims } from './followedClaims.js';
import type { BlockScores, BuildState, IndexWriter } from './indexChange.js';
import type { NotedBlocks } from './notedBlocks.js';

/** Blocks whose scores are written in one transaction. */
const SCORE_BLOCKS = 2000;
/** Time between two lines of progress in the log. */
const PROGRESS_MS = 30_000;
/** Below the genesis block, so that every block is noted while claims are read. */
const BOTTOM = -1;

export interface BuildProgress {
  /** Number of claims read in this run. */
  readonly claims: number;
  readonly stage: 'claims' | 'scores' | 'indexes';
}

export interface FirstBuildDeps {
  readonly claims: FollowedClaims;
  readonly noted: NotedBlocks;
  readonly writer: IndexWriter;
  readonly logger: Logger;
  readonly isClosed: () => boolean;
  readonly onProgress: (progress: BuildProgress) => void;
}

export class FirstBuild {
  private readonly deps: FirstBuildDeps;
  private count = 0;

  constructor(deps: FirstBuildDeps) {
    this.deps = deps;
  }

  /** Returns whether the index is complete: false if the follower was closed meanwhile. */
  async run(build: BuildState): Promise<boolean> {
    const { writer, isClosed } = this.deps;
    this.tell('claims');
    if (!build.hasDocuments) await this.addClaims(build.after);
    if (isClosed()) return false;
    this.tell('scores');
    await this.addScores(build.scoredHeight + 1, build.base.height);
    if (isClosed()) return false;
    this.tell('indexes');
    await writer.endBuild();
    return true;
  }

  private tell(stage: BuildProgress['stage']): void {
    this.deps.onProgress({ claims: this.count, stage });
  }

  private async addClaims(after: string | null): Promise<void> {
    const { claims, noted, writer, logger, isClosed } = this.deps;
    let told = performance.now();
    // Claims are read while the previous ones are written.
    let writing: Promise<void> = Promise.resolve();
    let last: Bytes | null = after === null ? null : hashFromHex(after);
    for (let isWhole = false; !isWhole;) {
      const { disconnects } = claims;
      isWhole = true;
      for await (const batch of claims.reader.allClaims(last)) {
        if (isClosed()) return writing;
        await claims.prepare(batch);
        await noted.noteAhead(BOTTOM);
        // If a block was disconnected during the read, before it was noted, the claims are read again.
        isWhole = claims.disconnects === disconnects;
        if (!isWhole) break;
        last = batch.at(-1)?.claim.claimId ?? last;
        // Claims whose value is gone count as read. The blocks that changed them are followed after the build.
        const sources = batch.flatMap(
          (claim) => claims.sourceOf(claim, hashToHex(claim.claim.claimId)) ?? [],
        );
        await writing;
        writing = writer.addClaims({ sources, gone: [] });
        writing.catch(() => undefined);
        this.count += batch.length;
        this.tell('claims');
        if (performance.now() - told < PROGRESS_MS) continue;
        told = performance.now();
        logger.info(`Search index: ${this.count} claims read`);
      }
    }
    await writing;
    await writer.addClaims({ sources: [], gone: await this.noted() });
    await writer.endClaims();
  }

  /**
   * Claims of the blocks that will be followed after the build. Some have ended, and some did not exist when the reading
   * passed their position. Their scores are needed too, because they may become live again.
   */
  private async noted(): Promise<string[]> {
    const notes = await this.deps.writer.notes();
    return [...new Set(notes.flatMap(({ claimIds }) => claimIds))];
  }

  private async addScores(from: number, to: number): Promise<void> {
    const { claims, writer, isClosed } = this.deps;
    let blocks: BlockScores[] = [];
    for (let height = Math.max(0, from); height <= to; height++) {
      if (isClosed()) return;
      const trending = await claims.reader.trending(height);
      if (trending.length > 0 || height === to) blocks.push({ height, scores: trending.map(scoreOf) });
      if (blocks.length < SCORE_BLOCKS && height < to) continue;
      await writer.addScores(blocks);
      blocks = [];
    }
  }
}
