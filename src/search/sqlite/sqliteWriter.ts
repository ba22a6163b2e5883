/**
 * Writer of the SQLite index: one connection, used by one thread. Each call is one transaction. When it opens a file that is
 * corrupt, or of another version or chain, the file is deleted. Only this thread checkpoints SQLite's log, after its
 * checksums were written (`indexSums.ts`).
 */
import { existsSync, rmSync } from 'node:fs';
import { fromHex, toHex } from '../../util/bytes.js';
import { isSpecialFile } from '../../util/files/specialFile.js';
import { statesByStep } from '../follow/blockSteps.js';
import type { ClaimDocument } from '../document/document.js';
import {
  KEPT_BLOCKS,
  type BlockId,
  type BlockNote,
  type BlockStep,
  type BlockScores,
  type BuildState,
  type IndexState,
} from '../follow/indexChange.js';
import type { ClaimStates } from '../document/documentSource.js';
import { IndexCorruption, IndexSums, PAGE_BYTES, type ClosingFlag } from './indexSums.js';
import { CLAIM_ID_INDEX, FILL_LABELED, SECONDARY_INDEXES, createTables, isIndexOf } from './schema.js';
import type { SqliteDatabase, SqliteProvider } from '../../sqlite/sqliteProvider.js';
import { SqliteRows, joinIds, splitIds } from './sqliteRows.js';
import { trendingAfter } from '../document/trending.js';

/** Size of the page cache of the writer in KiB. Arbitrary. */
const CACHE_KIB = 64 << 10;
export const WRITER_CACHE_BYTES = CACHE_KIB << 10;
/**
 * Number of full-text segments that a first build collects before they are merged. Segments are written from a table of 1
 * MiB (FTS5's default), which fits the processor's cache; lookups in a larger table are slower.
 */
const BULK_SEGMENTS = 64;
/** Number of pages merged in one step at the end of a first build. Arbitrary: some tenths of a second. */
const MERGE_PAGES = 4000;

/**
 * Suffixes of the index file and the files beside it, including those of earlier versions. The checksum file is deleted
 * first: without it the index is invalid.
 */
const SUFFIXES = ['-sums', '', '-wal', '-shm', '-journal', '-seal'];

/** Deletes the index file, its checksums, and SQLite's files beside it. */
export function removeIndexFile(path: string): void {
  for (const suffix of SUFFIXES) rmSync(path + suffix, { force: true });
}

export class SqliteWriter {
  /** Reason why the existing file was deleted when it was opened; null if it was intact or missing. */
  readonly corruption: string | null;
  private readonly database: SqliteDatabase;
  private readonly sums: IndexSums;
  private rows: SqliteRows;

  private constructor({ database, sums }: OpenFile, corruption: string | null) {
    this.database = database;
    this.sums = sums;
    this.corruption = corruption;
    try {
      this.rows = new SqliteRows(database);
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  /**
   * Opens the index of a chain if it is intact; otherwise replaces the existing file by an empty index. Throws `SearchError`
   * if closing is requested while the index is opened.
   */
  static open(provider: SqliteProvider, path: string, chain: string, closing?: ClosingFlag): SqliteWriter {
    let corruption: string | null = null;
    if (['', '-wal', '-sums'].some((suffix) => isSpecialFile(path + suffix)))
      corruption = 'it is not a regular file';
    else if (existsSync(path)) {
      try {
        const found = openFile(provider, path, chain, closing);
        if (found !== null) return new SqliteWriter(found, null);
      } catch (error) {
        if (!isCorruption(error)) throw error;
        corruption = error.message;
      }
    }
    removeIndexFile(path);
    return new SqliteWriter(createFile(provider, path, chain), corruption);
  }

  state(): IndexState {
    return { tip: this.read('tip'), build: this.read('build'), documents: this.rows.documents };
  }

  notes(): BlockNote[] {
    const rows = this.database.prepare('SELECT height, hash, ids FROM block ORDER BY height').all();
    return rows.map((row) => ({
      height: row['height'] as number,
      hash: row['hash'] as string,
      claimIds: splitIds(row['ids'] as Uint8Array),
    }));
  }

  note(blocks: readonly BlockNote[]): void {
    this.transaction(() => blocks.forEach((block) => this.writeNote(block)));
  }

  repostsOf(claimIds: readonly string[]): string[] {
    const find = this.rows.statement('SELECT claim_id FROM claim WHERE reposted_claim_id = ?');
    return claimIds.flatMap((id) => find.all(fromHex(id)).map((row) => toHex(row['claim_id'] as Uint8Array)));
  }

  applyBlocks(steps: readonly BlockStep[], states: ClaimStates): number {
    const { height, hash } = steps.at(-1)!.block;
    this.transaction(() => {
      for (const [step, own] of statesByStep(steps, states)) this.applyBlock(step, own);
      this.write('tip', { height, hash });
      this.rows.statement('DELETE FROM block WHERE height <= ?').run(height - KEPT_BLOCKS);
      this.rows.statement('DELETE FROM score_undo WHERE height <= ?').run(height - KEPT_BLOCKS);
    });
    return this.rows.documents;
  }

  private applyBlock({ block, ended, scores }: BlockStep, states: ClaimStates): void {
    const { height } = block;
    this.writeNote(block);
    this.writeStates(states, height, new Set(ended));
    for (const change of scores) {
      const id = fromHex(change.claimId);
      const known = this.knownScore(id);
      if (known === undefined) continue;
      this.rememberScore(height, id, known);
      this.writeScore(id, trendingAfter(known.score, height, change.formerSat, change.latterSat));
    }
  }

  rewind(tip: BlockId, abandoned: readonly BlockId[], states: ClaimStates): void {
    this.transaction(() => {
      const undo = this.rows
        .statement('SELECT claim_id, existed, score FROM score_undo WHERE height > ? ORDER BY height DESC')
        .all(tip.height);
      for (const row of undo) {
        const id = row['claim_id'] as Uint8Array;
        if (row['existed'] === 0) {
          this.rows.remove(id);
          this.unhide(id);
        } else {
          if (this.knownScore(id) === undefined) this.hide(id, null);
          this.writeScore(id, row['score'] as number | null);
        }
      }
      this.rows.statement('DELETE FROM score_undo WHERE height > ?').run(tip.height);
      this.forget(abandoned);
      this.writeStates(states, null, new Set());
      this.write('tip', tip);
    });
  }

  refresh(abandoned: readonly BlockId[], states: ClaimStates): void {
    this.transaction(() => {
      this.forget(abandoned);
      this.writeStates(states, null, new Set());
    });
  }

  /** Adds documents during a first build, in order of claim ids. `after` is the last of these ids, or null. */
  addDocuments(documents: readonly ClaimDocument[], hidden: readonly string[], after: string | null): void {
    this.transaction(() => {
      // Documents are inserted in order of their numbers. FTS5 collects words in memory while document numbers ascend, and
      // writes them when they do not.
      for (const document of documents.toSorted((a, b) => a.id - b.id)) this.insertBulk(document);
      for (const id of hidden) this.hide(fromHex(id), null);
      if (after !== null) this.writeBuild({ after });
    });
  }

  private insertBulk(document: ClaimDocument): void {
    try {
      this.rows.insert(document, null, true);
    } catch (error) {
      // A claim of a stale branch may have the same document number. Its document is removed; the claim will be read
      // again.
      const holder = this.rows.removeHolder(document);
      if (holder === null) throw error;
      this.rows.insert(document, null, true);
    }
  }

  /** Prepares the empty index for a first build. */
  startBuild(base: BlockId): void {
    this.transaction(() => {
      this.writeNote({ ...base, claimIds: [] });
      this.write('build', { base, after: null, hasDocuments: false, scoredHeight: -1 } satisfies BuildState);
    });
    this.configureWords('automerge', 0);
    this.configureWords('crisismerge', BULK_SEGMENTS);
  }

  endDocuments(): void {
    this.execute(CLAIM_ID_INDEX);
    this.transaction(() => {
      // A claim may be listed as hidden although it has a document, because the blocks after the build list all their
      // claims.
      this.database.exec(
        'DELETE FROM hidden WHERE EXISTS (SELECT 1 FROM claim c WHERE c.claim_id = hidden.claim_id)',
      );
      this.writeBuild({ hasDocuments: true });
    });
  }

  addScores(blocks: readonly BlockScores[]): void {
    this.transaction(() => {
      /** Scores after the blocks so far; undefined for claims that have neither a document nor a hidden score. */
      const known = new Map<string, { readonly score: number | null } | undefined>();
      for (const { height, scores } of blocks) {
        for (const { claimId, formerSat, latterSat } of scores) {
          if (!known.has(claimId)) known.set(claimId, this.knownScore(fromHex(claimId)));
          const before = known.get(claimId);
          if (before === undefined) continue;
          known.set(claimId, { score: trendingAfter(before.score, height, formerSat, latterSat) });
        }
      }
      for (const [claimId, after] of known)
        if (after !== undefined) this.writeScore(fromHex(claimId), after.score);
      const last = blocks.at(-1);
      if (last !== undefined) this.writeBuild({ scoredHeight: last.height });
    });
  }

  endBuild(): void {
    this.configureWords('crisismerge', 16);
    this.configureWords('automerge', 4);
    this.optimize();
    this.transaction(() => this.database.exec(FILL_LABELED));
    for (const sql of SECONDARY_INDEXES) this.execute(sql);
    this.transaction(() => {
      const build = this.read<BuildState>('build')!;
      this.write('tip', build.base);
      this.rows.statement(`DELETE FROM state WHERE key = 'build'`).run();
    });
    this.checkpoint();
    this.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  /** Checks the next `pages` pages of the file. After the last page it continues with the first. Throws `IndexCorruption`. */
  scrub(pages: number): void {
    this.sums.scrub(pages);
  }

  /** Copies SQLite's log to the file, as far as readers allow it. */
  checkpoint(): void {
    const frames = this.sums.note();
    const done = this.database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()!;
    this.sums.copied(Number(done['log']), frames, Number(done['checkpointed']));
  }

  close(): void {
    try {
      this.checkpoint();
    } finally {
      this.discard();
    }
  }

  /** Closes the file because the file is about to be deleted. */
  discard(): void {
    this.database.close();
    this.sums.close();
  }

  /** Merges all full-text segments into one, in steps. */
  private optimize(): void {
    const changes = this.database.prepare('SELECT total_changes() AS n');
    const merge = (pages: number) =>
      this.execute(`INSERT INTO text_index (text_index, rank) VALUES ('merge', ${pages})`);
    merge(-MERGE_PAGES);
    for (;;) {
      const before = Number(changes.get()!['n']);
      merge(MERGE_PAGES);
      // A merge step that had nothing left to merge makes fewer than two changes. Source: SQLite's documentation of FTS5,
      // 6.8.
      if (Number(changes.get()!['n']) - before < 2) return;
    }
  }

  private configureWords(option: string, value: number): void {
    this.execute(`INSERT INTO text_index (text_index, rank) VALUES ('${option}', ${value})`);
  }

  /**
   * Writes the states of claims. `undoHeight` is the height of the block for which the former scores of the claims are
   * stored; null to store none.
   */
  private writeStates(states: ClaimStates, undoHeight: number | null, ended: ReadonlySet<string>): void {
    const note = (id: Uint8Array) => {
      if (undoHeight !== null) this.rememberScore(undoHeight, id, this.knownScore(id));
    };
    for (const claimId of states.gone) {
      const id = fromHex(claimId);
      const isEnded = ended.has(claimId);
      const known = this.knownScore(id);
      if (known === undefined && isEnded) continue;
      if (isEnded || known === undefined) note(id);
      this.rows.remove(id);
      if (isEnded) this.unhide(id);
      else if (known !== undefined || undoHeight !== null) this.hide(id, known?.score ?? null);
    }
    for (const claimId of states.hidden) {
      const id = fromHex(claimId);
      const known = this.knownScore(id);
      if (known === undefined) note(id);
      this.rows.remove(id);
      this.hide(id, known?.score ?? null);
    }
    for (const document of states.documents.toSorted((a, b) => a.id - b.id)) this.putDocument(document, note);
  }

  private putDocument(document: ClaimDocument, note: (id: Uint8Array) => void): void {
    const id = fromHex(document.claimId);
    const known = this.knownScore(id);
    if (known === undefined) note(id);
    // A claim of an abandoned branch may have the same document number until it is read again. The score of the removed
    // claim is kept, because it is still needed when the claim is read again.
    const holder = this.rows.removeHolder(document);
    if (holder !== null) this.hide(holder.claimId, holder.score);
    this.rows.put(document, known?.score ?? null);
    this.unhide(id);
  }

  private knownScore(id: Uint8Array): { readonly score: number | null } | undefined {
    const found = this.rows.scoreOf(id);
    if (found !== undefined) return found;
    const row = this.rows.statement('SELECT score FROM hidden WHERE claim_id = ?').get(id);
    return row && { score: row['score'] as number | null };
  }

  private writeScore(id: Uint8Array, score: number | null): void {
    const { changes } = this.rows
      .statement('UPDATE claim SET trending_score = ? WHERE claim_id = ?')
      .run(score, id);
    if (Number(changes) === 0)
      this.rows.statement('UPDATE hidden SET score = ? WHERE claim_id = ?').run(score, id);
  }

  /** Stores the score that a claim had before a block, if none is stored for the block yet. */
  private rememberScore(
    height: number,
    id: Uint8Array,
    known: { readonly score: number | null } | undefined,
  ): void {
    this.rows
      .statement('INSERT OR IGNORE INTO score_undo VALUES (?, ?, ?, ?)')
      .run(height, id, known === undefined ? 0 : 1, known?.score ?? null);
  }

  private forget(blocks: readonly BlockId[]): void {
    const forget = this.rows.statement('DELETE FROM block WHERE height = ? AND hash = ?');
    for (const { height, hash } of blocks) forget.run(height, hash);
  }

  private hide(id: Uint8Array, score: number | null): void {
    this.rows.statement('INSERT OR REPLACE INTO hidden VALUES (?, ?)').run(id, score);
  }

  private unhide(id: Uint8Array): void {
    this.rows.statement('DELETE FROM hidden WHERE claim_id = ?').run(id);
  }

  private writeNote({ height, hash, claimIds }: BlockNote): void {
    this.rows.statement('INSERT OR REPLACE INTO block VALUES (?, ?, ?)').run(height, hash, joinIds(claimIds));
  }

  private read<T>(key: string): T | null {
    const row = this.database.prepare('SELECT value FROM state WHERE key = ?').get(key);
    return row === undefined ? null : (JSON.parse(row['value'] as string) as T);
  }

  private write(key: string, value: unknown): void {
    this.rows.statement('INSERT OR REPLACE INTO state VALUES (?, ?)').run(key, JSON.stringify(value));
  }

  private writeBuild(change: Partial<BuildState>): void {
    this.write('build', { ...this.read<BuildState>('build')!, ...change });
  }

  private transaction(work: () => void): void {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.rows.flush();
      this.database.exec('COMMIT');
    } catch (error) {
      this.database.exec('ROLLBACK');
      this.rows = new SqliteRows(this.database);
      throw error;
    }
    this.checkpointWhereDue();
  }

  /** Runs a statement as a separate transaction, then checkpoints the log if a checkpoint is due. */
  private execute(sql: string): void {
    this.database.exec(sql);
    this.checkpointWhereDue();
  }

  private checkpointWhereDue(): void {
    if (this.sums.isDue) this.checkpoint();
  }
}

/** Whether an error means that the file is corrupt or not a database, according to the checksums or to SQLite. */
export function isCorruption(error: unknown): error is Error {
  return (
    error instanceof IndexCorruption ||
    (error instanceof Error &&
      /malformed|not a database|SQLITE_CORRUPT|SQLITE_NOTADB|corrupt/i.test(error.message))
  );
}

interface OpenFile {
  readonly database: SqliteDatabase;
  readonly sums: IndexSums;
}

/** Opens an intact index file. Returns null if the file has another version or belongs to another chain. */
function openFile(
  provider: SqliteProvider,
  path: string,
  chain: string,
  closing: ClosingFlag | undefined,
): OpenFile | null {
  const sums = IndexSums.open(path, closing);
  let database: SqliteDatabase | null = null;
  try {
    database = configured(provider, path);
    if (isIndexOf(database, chain)) return { database, sums };
  } catch (error) {
    database?.close();
    sums.close();
    throw error;
  }
  database.close();
  sums.close();
  return null;
}

function createFile(provider: SqliteProvider, path: string, chain: string): OpenFile {
  const database = configured(provider, path);
  let sums: IndexSums | null = null;
  try {
    sums = IndexSums.create(path);
    createTables(database, chain);
    return { database, sums };
  } catch (error) {
    database.close();
    sums?.close();
    throw error;
  }
}

function configured(provider: SqliteProvider, path: string): SqliteDatabase {
  const database = provider.open(path);
  try {
    // SQLite truncates the log file when it restarts the log. The size of the file then shows how much the log contains.
    database.exec(`PRAGMA busy_timeout = 10000; PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL;
      PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 0;
      PRAGMA synchronous = NORMAL; PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = FILE`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
