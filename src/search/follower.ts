/**
 * Keeps the search index beside the claim index, with a tip of its own: makes it for the first time, follows block by
 * block, goes back where the chain did. A document is always made anew of its claim as it is at the present tip, which may
 * be ahead of the block that is followed; so the order of blocks does not matter, only scores remember.
 *
 * A claim that was read at a block which is then left behind must be read again. So each block of the claim index is noted
 * with the claims that it touched before claims are read at it; notes of blocks that are no more on the active chain say
 * what to read again, whether the index had come to them or not.
 */
import { ClaimChangesGoneError } from '../index/claims/claimIndexQueries.js';
import type { ClaimIndexReader, ClaimRecord } from '../index/claims/claimReader.js';
import type { Bytes } from '../util/bytes.js';
import { hashFromHex, hashToHex } from '../util/bytes.js';
import type { Logger } from '../util/logging.js';
import { compactSource, type ClaimSources, type DocumentSource } from './documentSource.js';
import {
  KEPT_BLOCKS,
  type BlockId,
  type BlockNote,
  type BlockScores,
  type IndexWriter,
} from './indexChange.js';

/** The active chain as the follower needs it. */
export interface FollowedChain {
  /** Hash of a block of the active chain, hex as printed; null above the tip. */
  hashAt(height: number): string | null;
  /** Transactions in all blocks below `height`. */
  transactionsBelow(height: number): number;
  /** Time in the block's header. */
  timeSec(height: number): number;
}

export interface FollowerOptions {
  /** Blocks that are followed one by one behind a first build; a deeper reorganisation has the index built anew. */
  readonly keptBlocks?: number;
}

export interface FollowerStatus {
  /** Null until the first build is whole. */
  readonly tip: BlockId | null;
  readonly documents: number;
  /** Claims read by the first build of this run; null when none is going on. */
  readonly building: { readonly claims: number; readonly stage: 'claims' | 'scores' | 'indexes' } | null;
  /** What ended following, until the next try; null while all is well. */
  readonly failure: string | null;
}

/** Claims read in one go. */
const READ_CLAIMS = 500;
/** Blocks whose scores are written in one go. */
const SCORE_BLOCKS = 2000;
/** Time between two lines of progress in the log. */
const PROGRESS_MS = 30_000;
/** Time after which a failure is tried again. Arbitrary. */
const RETRY_MS = 5000;
/** Where nothing is, below the genesis block. */
const NOWHERE: BlockId = { height: -1, hash: '' };

export class SearchFollower {
  private readonly reader: ClaimIndexReader;
  private readonly chain: FollowedChain;
  private readonly writer: IndexWriter;
  private readonly logger: Logger;
  private readonly keptBlocks: number;
  private tip: BlockId | null = null;
  private documents = 0;
  private building: FollowerStatus['building'] = null;
  private failure: string | null = null;
  private noted = new Map<string, BlockId>();
  private running: Promise<void> | null = null;
  private isWanted = false;
  private isDamaged = false;
  private isClosed = false;
  private retry: NodeJS.Timeout | null = null;
  private waiters: { readonly done: () => void }[] = [];

  constructor(
    reader: ClaimIndexReader,
    chain: FollowedChain,
    writer: IndexWriter,
    logger: Logger,
    { keptBlocks = KEPT_BLOCKS - 50 }: FollowerOptions = {},
  ) {
    this.reader = reader;
    this.chain = chain;
    this.writer = writer;
    this.logger = logger;
    this.keptBlocks = keptBlocks;
  }

  get status(): FollowerStatus {
    return { tip: this.tip, documents: this.documents, building: this.building, failure: this.failure };
  }

  /** To be called when the claim index may have moved. Following goes on in the background. */
  poke(): void {
    this.isWanted = true;
    if (this.isClosed || this.running !== null || this.retry !== null) return;
    this.running = this.run().finally(() => (this.running = null));
  }

  /** Somebody who read the index found it damaged: it is made anew, if it is not already. */
  remake(): void {
    if (this.tip === null) return;
    this.isDamaged = true;
    this.poke();
  }

  /** Follows until the index is at the tip of the claim index. Failures are thrown; `poke` tells them in the status. */
  async sync(): Promise<void> {
    if (!this.reader.isSynced || this.isClosed) return;
    const state = await this.writer.state();
    this.tip = state.tip;
    this.documents = state.documents;
    if (state.isKeptByOther === true) return this.wake();
    if (state.wasDamaged === true && state.build === null && state.tip === null)
      this.logger.warn('The file of the search index was damaged, and is deleted');
    this.noted = new Map((await this.writer.notes()).map((note) => [keyOf(note), idOf(note)]));
    if (this.isDamaged && state.tip !== null) await this.buildAnew('it is damaged');
    else if (state.tip === null || state.build !== null) await this.build();
    this.isDamaged = false;
    while (!this.isClosed && (await this.step()));
  }

  /** Waits until the index is at the tip of the claim index, on the same branch, `timeoutMs` at most. */
  async waitForTip(timeoutMs: number): Promise<void> {
    if (this.tip === null || this.isCurrent(this.tip)) return;
    this.poke();
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
    for (const waiter of [...this.waiters]) waiter.done();
    await this.running;
  }

  private async run(): Promise<void> {
    try {
      while (this.isWanted && !this.isClosed) {
        this.isWanted = false;
        await this.sync();
        this.failure = null;
      }
    } catch (error) {
      if (this.isClosed) return;
      const { message } = error as Error;
      if (message !== this.failure)
        this.logger.warn(`The search index could not be brought up to date: ${message}`);
      this.failure = message;
      this.building = null;
      this.retry = setTimeout(() => {
        this.retry = null;
        this.poke();
      }, RETRY_MS);
      this.retry.unref();
    }
  }

  /** One step towards the claim index's tip; false when there is none to take. */
  private async step(): Promise<boolean> {
    await this.noteAhead();
    const { tip } = this;
    if (tip === null) return false;
    const abandoned = [...this.noted.values()].filter((block) => !this.isActive(block));
    if (!this.isActive(tip)) return this.rewind(abandoned);
    if (abandoned.length > 0) {
      const ids = await this.idsOf(abandoned);
      await this.writer.refresh(abandoned, await this.read(ids));
      this.forget(abandoned);
      return true;
    }
    if (tip.height >= this.reader.height) return false;
    await this.follow(tip.height + 1);
    return true;
  }

  private async follow(height: number): Promise<void> {
    const began = performance.now();
    const hash = this.chain.hashAt(height);
    const changes = await this.changesAt(height, hash);
    if (changes === 'gone')
      return this.buildAnew('the claim index no longer knows what the next blocks changed');
    // The chain has moved on another branch meanwhile: the next step sees it.
    if (hash === null || changes === null) return;
    const ended = changes.deleted.map(hashToHex);
    const touched = [...new Set([...changes.touched.map(hashToHex), ...ended])];
    const claims = await this.read(touched);
    const changed = [
      ...claims.gone,
      ...claims.sources
        .filter(({ record }) => record.height === height)
        .map(({ record }) => hashToHex(record.claimId)),
    ];
    const known = new Set(touched);
    const reposts = (await this.writer.repostsOf(changed)).filter((id) => !known.has(id));
    const more = reposts.length === 0 ? null : await this.read(reposts);
    const block: BlockNote = { height, hash, claimIds: [...touched, ...reposts] };
    await this.writer.applyBlock(
      { block, ended, scores: changes.trending.map(scoreOf) },
      more === null
        ? claims
        : { sources: [...claims.sources, ...more.sources], gone: [...claims.gone, ...more.gone] },
    );
    this.logger.debug('search', () => {
      const tookMs = performance.now() - began;
      return `Search index: block ${height} with ${block.claimIds.length} claims in ${tookMs.toFixed(0)} ms`;
    });
    this.noted.set(keyOf(block), idOf(block));
    for (const [key, note] of this.noted) if (note.height <= height - KEPT_BLOCKS) this.noted.delete(key);
    await this.moved({ height, hash });
  }

  private async rewind(abandoned: readonly BlockId[]): Promise<boolean> {
    const from = this.tip!;
    const active = [...this.noted.values()].filter(
      (block) => block.height < from.height && this.isActive(block),
    );
    const fork = active.reduce<BlockId | null>(
      (best, block) => (best && best.height > block.height ? best : block),
      null,
    );
    if (fork === null) {
      await this.buildAnew('the chain was reorganised deeper than it can follow');
      return true;
    }
    const above = [...this.noted.values()].filter((block) => block.height > fork.height);
    const ids = await this.idsOf(above);
    await this.writer.rewind(fork, abandoned, await this.read(ids));
    this.logger.debug('search', `Search index: back from block ${from.height} to ${fork.height}`);
    this.forget(abandoned);
    await this.moved(fork);
    return true;
  }

  private async buildAnew(reason: string): Promise<void> {
    this.logger.info(`The search index is built anew: ${reason}`);
    this.tip = null;
    await this.build(false);
  }

  /** The block from which on each is followed by itself: as many as are kept and the claim index still knows. */
  private async findBase(): Promise<BlockId> {
    const lowest = Math.max(NOWHERE.height, this.reader.height - this.keptBlocks);
    let height = this.reader.height;
    while (height > lowest && typeof (await this.changesAt(height, this.chain.hashAt(height))) !== 'string')
      height--;
    return height < 0 ? NOWHERE : { height, hash: this.chain.hashAt(height) ?? '' };
  }

  /** The first build, or the rest of one that was begun. */
  private async build(isResumed = true): Promise<void> {
    let { build } = await this.writer.state();
    if (!isResumed || build === null || !this.isActive(build.base)) {
      const base = await this.findBase();
      await this.writer.startBuild(base);
      this.noted = new Map([[keyOf(base), base]]);
      build = (await this.writer.state()).build!;
      this.logger.info('The search index is being built for the first time');
    }
    this.building = { claims: 0, stage: 'claims' };
    if (!build.hasDocuments) await this.buildClaims(build.after);
    if (this.isClosed) return;
    this.building = { ...this.building, stage: 'scores' };
    await this.buildScores(build.scoredHeight + 1, build.base.height);
    if (this.isClosed) return;
    this.building = { ...this.building, stage: 'indexes' };
    await this.writer.endBuild();
    this.building = null;
    await this.moved(build.base);
    this.logger.info(`The search index is built: ${this.documents} claims`);
  }

  private async buildClaims(after: string | null): Promise<void> {
    let batch: ClaimRecord[] = [];
    let claims = 0;
    let told = performance.now();
    // Claims are read while those before them are written.
    let writing: Promise<void> = Promise.resolve();
    const flush = async () => {
      await this.noteAhead();
      const { sources } = await this.readRecords(batch);
      // Claims that are gone by now count as read; what touched them is followed behind the build.
      await writing;
      writing = this.writer.addClaims({ sources, gone: [] });
      writing.catch(() => undefined);
      claims += batch.length;
      batch = [];
      this.building = { claims, stage: 'claims' };
      if (performance.now() - told < PROGRESS_MS) return;
      told = performance.now();
      this.logger.info(`Search index: ${claims} claims read`);
    };
    for await (const record of this.reader.allClaims(after === null ? null : hashFromHex(after))) {
      if (this.isClosed) return writing;
      batch.push(record);
      if (batch.length >= READ_CLAIMS) await flush();
    }
    await flush();
    await writing;
    await this.writer.endClaims();
  }

  private async buildScores(from: number, to: number): Promise<void> {
    let blocks: BlockScores[] = [];
    for (let height = Math.max(0, from); height <= to; height++) {
      if (this.isClosed) return;
      const trending = await this.reader.trending(height);
      if (trending.length > 0 || height === to) blocks.push({ height, scores: trending.map(scoreOf) });
      if (blocks.length < SCORE_BLOCKS && height < to) continue;
      await this.writer.addScores(blocks);
      blocks = [];
    }
  }

  /** Notes blocks of the claim index that are ahead, before and after claims are read at them. */
  private async noteAhead(): Promise<void> {
    const bottom = this.tip?.height ?? NOWHERE.height;
    const missing: BlockNote[] = [];
    for (
      let height = this.reader.height;
      height > Math.max(bottom, this.reader.height - this.keptBlocks);
      height--
    ) {
      const hash = this.chain.hashAt(height);
      if (hash === null || this.noted.has(keyOf({ height, hash }))) break;
      const changes = await this.changesAt(height, hash);
      if (changes === null || changes === 'gone') break;
      missing.push({ height, hash, claimIds: [...changes.touched, ...changes.deleted].map(hashToHex) });
    }
    if (missing.length === 0) return;
    await this.writer.note(missing);
    for (const block of missing) this.noted.set(keyOf(block), idOf(block));
  }

  /** What a block did; null when it is not, or no more, that block of the active chain; `gone` when that is forgotten. */
  private async changesAt(height: number, hash: string | null) {
    if (hash === null || height > this.reader.height) return null;
    try {
      const changes = await this.reader.changes(height);
      return this.chain.hashAt(height) === hash ? changes : null;
    } catch (error) {
      if (this.chain.hashAt(height) !== hash || height > this.reader.height) return null;
      if (error instanceof ClaimChangesGoneError) return 'gone';
      throw error;
    }
  }

  /** Claims as they are at the present tip. */
  private async read(ids: readonly string[]): Promise<ClaimSources> {
    const sources: DocumentSource[] = [];
    const gone: string[] = [];
    for (let at = 0; at < ids.length; at += READ_CLAIMS) {
      const part = ids.slice(at, at + READ_CLAIMS);
      const records = await this.reader.claims(part.map((id) => hashFromHex(id)));
      const read = await this.readRecords(records.filter((record) => record !== null));
      const found = new Set(read.sources.map(({ record }) => hashToHex(record.claimId)));
      sources.push(...read.sources);
      gone.push(...part.filter((id) => !found.has(id)));
    }
    await this.noteAhead();
    return { sources, gone };
  }

  private async readRecords(records: readonly ClaimRecord[]): Promise<ClaimSources> {
    const made = await Promise.all(
      records.map(async (record): Promise<DocumentSource | null> => {
        const [value, repostedValue] = await Promise.all([
          this.reader.value(record.claimId),
          record.repostedId === null ? null : this.reader.value(record.repostedId),
        ]);
        if (value === null) return null;
        return compactSource({ record, places: this.placesOf(record), value, repostedValue });
      }),
    );
    return { sources: made.filter((source) => source !== null), gone: [] };
  }

  private placesOf(record: ClaimRecord) {
    return {
      txNum: this.chain.transactionsBelow(record.height) + record.position,
      creationTxNum: this.chain.transactionsBelow(record.creationHeight) + record.creationPosition,
      timeSec: this.chain.timeSec(record.height),
      creationTimeSec: this.chain.timeSec(record.creationHeight),
    };
  }

  /** The claims of noted blocks, and what reposts them. */
  private async idsOf(blocks: readonly BlockId[]): Promise<string[]> {
    const keys = new Set(blocks.map(keyOf));
    const notes = (await this.writer.notes()).filter((note) => keys.has(keyOf(note)));
    const ids = new Set(notes.flatMap((note) => note.claimIds));
    for (const id of await this.writer.repostsOf([...ids])) ids.add(id);
    return [...ids];
  }

  private isCurrent(tip: BlockId): boolean {
    return tip.height >= this.reader.height && this.isActive(tip);
  }

  private isActive({ height, hash }: BlockId): boolean {
    return height < 0 || this.chain.hashAt(height) === hash;
  }

  private forget(blocks: readonly BlockId[]): void {
    for (const block of blocks) this.noted.delete(keyOf(block));
  }

  private async moved(tip: BlockId): Promise<void> {
    this.documents = (await this.writer.state()).documents;
    this.tip = tip;
    this.wake();
  }

  /** Lets those go on who wait for the tip. */
  private wake(): void {
    if (this.tip !== null && this.isCurrent(this.tip)) for (const waiter of [...this.waiters]) waiter.done();
  }
}

const keyOf = ({ height, hash }: BlockId): string => `${height}:${hash}`;
const idOf = ({ height, hash }: BlockId): BlockId => ({ height, hash });

function scoreOf(change: {
  readonly claimId: Bytes;
  readonly formerSat: bigint;
  readonly latterSat: bigint;
}) {
  return { claimId: hashToHex(change.claimId), formerSat: change.formerSat, latterSat: change.latterSat };
}
