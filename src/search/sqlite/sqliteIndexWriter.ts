/**
 * SQLite index writer of the follower: builds documents from claims and passes them to `SqliteWriter`. Runs in the writer
 * thread; only one call may run at a time.
 */
import type { AddressPrefixes } from '../../script/address.js';
import type { ClaimDocument } from '../document/document.js';
import { statesOf, type ClaimSources } from '../document/documentSource.js';
import type {
  BlockId,
  BlockNote,
  BlockScores,
  BlockStep,
  IndexState,
  IndexWriter,
} from '../follow/indexChange.js';
import type { SqliteProvider } from '../../sqlite/sqliteProvider.js';
import type { ClosingFlag } from './indexSums.js';
import { SearchError } from '../query/searchError.js';
import { sqliteFileError } from '../../sqlite/sqliteFileError.js';
import { SqliteWriter, isCorruption, removeIndexFile } from './sqliteWriter.js';

/** Number of documents in one transaction of a first build. They take about 100 MB of memory. */
export const BULK_DOCUMENTS = 50_000;

export interface SqliteIndexOptions {
  readonly path: string;
  /** Identifies the chain: hash of its genesis block. */
  readonly chain: string;
  readonly prefixes: AddressPrefixes;
  readonly closing?: ClosingFlag;
}

/**
 * Number of pages that one step of the periodic check reads: 4 MiB, some milliseconds. One step per second is a small load
 * for any disk. Arbitrary.
 */
const SCRUB_PAGES = 512;

export class SqliteIndexWriter implements IndexWriter {
  private readonly provider: SqliteProvider;
  private readonly options: SqliteIndexOptions;
  private writer: SqliteWriter;
  private waiting: ClaimDocument[] = [];
  private waitingHidden = new Set<string>();
  private after: string | null = null;

  constructor(provider: SqliteProvider, options: SqliteIndexOptions) {
    this.provider = provider;
    this.options = options;
    this.writer = this.open();
  }

  async state(): Promise<IndexState> {
    // A build that continues reads these claims again.
    this.forgetWaiting();
    const state = this.guarded(() => this.writer.state());
    const { corruption } = this.writer;
    return corruption === null ? state : { ...state, corruption };
  }

  async notes(): Promise<readonly BlockNote[]> {
    return this.guarded(() => this.writer.notes());
  }

  async note(blocks: readonly BlockNote[]): Promise<void> {
    this.guarded(() => this.writer.note(blocks));
  }

  async repostsOf(claimIds: readonly string[]): Promise<readonly string[]> {
    return this.guarded(() => this.writer.repostsOf(claimIds));
  }

  async applyBlocks(steps: readonly BlockStep[], claims: ClaimSources): Promise<number> {
    return this.guarded(() => this.writer.applyBlocks(steps, this.states(claims)));
  }

  async rewind(tip: BlockId, abandoned: readonly BlockId[], claims: ClaimSources): Promise<void> {
    this.guarded(() => this.writer.rewind(tip, abandoned, this.states(claims)));
  }

  async refresh(abandoned: readonly BlockId[], claims: ClaimSources): Promise<void> {
    this.guarded(() => this.writer.refresh(abandoned, this.states(claims)));
  }

  async startBuild(base: BlockId): Promise<void> {
    this.reset();
    this.guarded(() => this.writer.startBuild(base));
  }

  async addClaims(claims: ClaimSources): Promise<void> {
    const { documents, hidden, gone } = this.states(claims);
    for (const document of documents) this.waiting.push(document);
    for (const id of [...hidden, ...gone]) this.waitingHidden.add(id);
    const last = claims.sources.at(-1);
    if (last !== undefined) this.after = last.claimId;
    if (this.waiting.length >= BULK_DOCUMENTS) this.writeWaiting();
  }

  async endClaims(): Promise<void> {
    this.writeWaiting();
    this.guarded(() => this.writer.endDocuments());
  }

  async addScores(blocks: readonly BlockScores[]): Promise<void> {
    this.guarded(() => this.writer.addScores(blocks));
  }

  async endBuild(): Promise<void> {
    this.guarded(() => this.writer.endBuild());
  }

  async scrub(pages = SCRUB_PAGES): Promise<string | null> {
    try {
      this.writer.scrub(pages);
      return null;
    } catch (error) {
      if (!isCorruption(error)) throw sqliteFileError(error, this.options.path);
      return error.message;
    }
  }

  async close(): Promise<void> {
    this.writer.close();
  }

  /** Drops the claims that are not written yet. */
  private forgetWaiting(): void {
    this.waiting = [];
    this.waitingHidden = new Set();
  }

  private states(claims: ClaimSources) {
    return statesOf(claims, this.options.prefixes);
  }

  private writeWaiting(): void {
    const { waiting, waitingHidden, after } = this;
    this.forgetWaiting();
    this.guarded(() => this.writer.addDocuments(waiting, [...waitingHidden], after));
  }

  private open(): SqliteWriter {
    const { path, chain, closing } = this.options;
    try {
      return SqliteWriter.open(this.provider, path, chain, closing);
    } catch (error) {
      throw sqliteFileError(error, path);
    }
  }

  /** Replaces the current file by an empty index. */
  private reset(): void {
    this.writer.discard();
    removeIndexFile(this.options.path);
    this.forgetWaiting();
    this.after = null;
    this.writer = this.open();
  }

  /** Runs a call. If the file is corrupt, it is replaced by an empty index before the error is thrown. */
  private guarded<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      if (!isCorruption(error)) throw sqliteFileError(error, this.options.path);
      this.reset();
      throw new SearchError('corrupt', `The search index is corrupt: ${error.message}`);
    }
  }
}
