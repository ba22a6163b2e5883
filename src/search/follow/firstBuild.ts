/**
 * First build of the search index: reads all claims, then the score changes of all blocks. An interrupted build can be
 * continued.
 */
import { hashFromHex, hashToHex, type Bytes } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import { readAhead } from '../../util/readAhead.js';
import { scoreOf, type FollowedClaims } from './followedClaims.js';
import type { BlockScores, BuildState, IndexWriter } from './indexChange.js';
import type { NotedBlocks } from './notedBlocks.js';

/** Number of blocks whose score changes are written in one transaction. */
const SCORE_BLOCKS = 2000;
/** Number of blocks whose score changes are read together. Arbitrary. */
const BLOCKS_A_READ = 256;
/** Interval in ms between two progress lines in the log. */
const PROGRESS_MS = 30_000;
/** A height below the genesis block, so that all blocks are recorded while claims are read. */
const BOTTOM = -1;

export interface BuildProgress {
  /** Number of claims that this run has read. */
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

  /** Runs the build. Returns false if it was closed before the index was complete. */
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
    let loggedMs = performance.now();
    // The next claims are read while documents of the previous ones are built and written. A block that was disconnected since
    // the read of a batch is noticed when the batch is taken.
    let writing: Promise<void> = Promise.resolve();
    let last: Bytes | null = after === null ? null : hashFromHex(after);
    for (let isWhole = false; !isWhole;) {
      const { disconnects } = claims;
      isWhole = true;
      for await (const batch of readAhead(claims.reader.allClaims(last))) {
        if (isClosed()) return writing;
        await claims.prepare(batch);
        await noted.noteAhead(BOTTOM);
        // A block may have been disconnected during the read, before it was recorded. In that case the batch is read
        // again.
        isWhole = claims.disconnects === disconnects;
        if (!isWhole) break;
        last = batch.at(-1)?.claim.claimId ?? last;
        // A claim whose value is not available counts as read. The block that changed the claim is applied after the
        // build.
        const sources = batch.flatMap(
          (claim) => claims.sourceOf(claim, hashToHex(claim.claim.claimId)) ?? [],
        );
        await writing;
        writing = writer.addClaims({ sources, gone: [] });
        writing.catch(() => undefined);
        this.count += batch.length;
        this.tell('claims');
        if (performance.now() - loggedMs < PROGRESS_MS) continue;
        loggedMs = performance.now();
        logger.info(`Search index: ${this.count} claims read`);
      }
    }
    await writing;
    await writer.addClaims({ sources: [], gone: await this.noted() });
    await writer.endClaims();
  }

  /**
   * Returns the claims of the noted blocks (blocks seen during the build), which are applied after the build. Some of these
   * claims have ended; others did not exist when the build passed their position. Their scores are needed too, because they
   * may become live again.
   */
  private async noted(): Promise<string[]> {
    const notes = await this.deps.writer.notes();
    return [...new Set(notes.flatMap(({ claimIds }) => claimIds))];
  }

  private async addScores(from: number, to: number): Promise<void> {
    const { claims, writer, isClosed } = this.deps;
    let blocks: BlockScores[] = [];
    for (let first = Math.max(0, from); first <= to; first += BLOCKS_A_READ) {
      if (isClosed()) return;
      const last = Math.min(to, first + BLOCKS_A_READ - 1);
      const trending = await claims.reader.trending(first, last);
      for (const [height, changes] of trending) blocks.push({ height, scores: changes.map(scoreOf) });
      if (last === to && !trending.has(to)) blocks.push({ height: to, scores: [] });
      if (blocks.length < SCORE_BLOCKS && last < to) continue;
      await writer.addScores(blocks);
      blocks = [];
    }
  }
}
