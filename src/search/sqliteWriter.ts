/**
 * The writing half of the SQLite index: one connection, used by one thread. Each call is one transaction. A file that is
 * damaged, of another version or of another chain is deleted when it is opened.
 */
import { rmSync } from 'node:fs';
import { fromHex, toHex } from '../util/bytes.js';
import { isSpecialFile } from '../util/specialFile.js';
import { statesByStep } from './blockSteps.js';
import type { ClaimDocument } from './document.js';
import {
  KEPT_BLOCKS,
  type BlockId,
  type BlockNote,
  type BlockStep,
  type BlockScores,
  type BuildState,
  type ClaimStates,
  type IndexState,
} from './indexChange.js';
import { breakSeal, sealOf, removeSeal, sealIndexFile } from './indexSeal.js';
import { CLAIM_ID_INDEX, FILL_LABELED, SECONDARY_INDEXES, createTables, isIndexOf } from './schema.js';
import type { SqliteDatabase, SqliteProvider } from '../sqlite/sqliteProvider.js';
import { SqliteRows, joinIds, splitIds } from './sqliteRows.js';
import { trendingAfter } from './trending.js';

/** Pages in memory, of the writer alone. Arbitrary. */
const CACHE_KIB = 64 << 10;
/**
 * Segments of words that a first build lets gather before it merges them into one. They are written from a table of 1 MiB
 * (FTS5's own default), which the processor's cache holds: in a larger one each word costs more the longer it is looked for.
 */
const BULK_SEGMENTS = 64;
/** Pages of words that are merged in one step at the end of a first build. Arbitrary: some tenths of a second. */
const MERGE_PAGES = 4000;

/** Deletes the file and what SQLite keeps beside it. */
export function removeIndexFile(path: string): void {
  removeSeal(path);
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
}

export class SqliteWriter {
  /** Whether what was there had to be deleted when it was opened. */
  readonly wasDamaged: boolean;
  private readonly path: string;
  private readonly database: SqliteDatabase;
  private rows: SqliteRows;

  private constructor(path: string, database: SqliteDatabase, wasDamaged: boolean) {
    this.path = path;
    this.database = database;
    this.wasDamaged = wasDamaged;
    try {
      this.rows = new SqliteRows(database);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Opens the index of a chain, or makes an empty one in place of what is there and is none. */
  static open(provider: SqliteProvider, path: string, chain: string): SqliteWriter {
    const isFile = !isSpecialFile(path) && !isSpecialFile(sealOf(path));
    if (isFile && breakSeal(path)) {
      try {
        return new SqliteWriter(path, openFile(provider, path, chain), false);
      } catch (error) {
        if (!isDamage(error)) throw error;
      }
    }
    removeIndexFile(path);
    return new SqliteWriter(path, openFile(provider, path, chain), true);
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

  /** Documents of a first build in the order of claim ids, `after` the last of these ids; null where there is none. */
  addDocuments(documents: readonly ClaimDocument[], hidden: readonly string[], after: string | null): void {
    this.transaction(() => {
      // FTS5 gathers words in memory as long as numbers grow, and writes them when they do not.
      for (const document of documents.toSorted((a, b) => a.id - b.id)) this.insertBulk(document);
      for (const id of hidden) this.hide(fromHex(id), null);
      if (after !== null) this.writeBuild({ after });
    });
  }

  private insertBulk(document: ClaimDocument): void {
    try {
      this.rows.insert(document, null, true);
    } catch (error) {
      // A claim of a branch that the chain has left may have the number; it is read again.
      const holder = this.rows.removeHolder(document);
      if (holder === null) throw error;
      this.rows.insert(document, null, true);
    }
  }

  /** Sets up the empty index for a first build. */
  startBuild(base: BlockId): void {
    this.transaction(() => {
      this.writeNote({ ...base, claimIds: [] });
      this.write('build', { base, after: null, hasDocuments: false, scoredHeight: -1 } satisfies BuildState);
    });
    this.configureWords('automerge', 0);
    this.configureWords('crisismerge', BULK_SEGMENTS);
  }

  endDocuments(): void {
    this.database.exec(CLAIM_ID_INDEX);
    this.transaction(() => {
      // Of the blocks behind the build all claims are handed over, those with a document too.
      this.database.exec(
        'DELETE FROM hidden WHERE EXISTS (SELECT 1 FROM claim c WHERE c.claim_id = hidden.claim_id)',
      );
      this.writeBuild({ hasDocuments: true });
    });
  }

  addScores(blocks: readonly BlockScores[]): void {
    this.transaction(() => {
      for (const { height, scores } of blocks) {
        for (const { claimId, formerSat, latterSat } of scores) {
          const id = fromHex(claimId);
          const known = this.knownScore(id);
          if (known !== undefined)
            this.writeScore(id, trendingAfter(known.score, height, formerSat, latterSat));
        }
      }
      const last = blocks.at(-1);
      if (last !== undefined) this.writeBuild({ scoredHeight: last.height });
    });
  }

  endBuild(): void {
    this.configureWords('crisismerge', 16);
    this.configureWords('automerge', 4);
    this.optimize();
    this.transaction(() => this.database.exec(FILL_LABELED));
    for (const sql of SECONDARY_INDEXES) this.database.exec(sql);
    this.transaction(() => {
      const build = this.read<BuildState>('build')!;
      this.write('tip', build.base);
      this.rows.statement(`DELETE FROM state WHERE key = 'build'`).run();
    });
    this.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  close(): void {
    this.database.close();
  }

  /** Closes for good, when nobody reads any more: the next start sees whether the file is still the same. */
  closeSealed(): void {
    this.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    this.close();
    sealIndexFile(this.path);
  }

  /** Merges all words into one segment, in steps. */
  private optimize(): void {
    const changes = this.database.prepare('SELECT total_changes() AS n');
    const merge = (pages: number) =>
      this.database.exec(`INSERT INTO text_index (text_index, rank) VALUES ('merge', ${pages})`);
    merge(-MERGE_PAGES);
    for (;;) {
      const before = Number(changes.get()!['n']);
      merge(MERGE_PAGES);
      // A step that finds nothing left to do makes less than two changes. Source: SQLite's documentation of FTS5, 6.8.
      if (Number(changes.get()!['n']) - before < 2) return;
    }
  }

  private configureWords(option: string, value: number): void {
    this.database.exec(`INSERT INTO text_index (text_index, rank) VALUES ('${option}', ${value})`);
  }

  /** `undoHeight` is the block whose undo notes what was before; null when nothing is to be noted. */
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
    // A claim of an abandoned branch may hold the number until it is read again, and wants its score then.
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

  /** Notes a score as it was before a block, once a block. */
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
  }
}

/** Whether SQLite says that the file is damaged, or no database at all. */
export function isDamage(error: unknown): boolean {
  return (
    error instanceof Error &&
    /malformed|not a database|SQLITE_CORRUPT|SQLITE_NOTADB|corrupt/i.test(error.message)
  );
}

function openFile(provider: SqliteProvider, path: string, chain: string): SqliteDatabase {
  let database = configured(provider, path);
  try {
    if (isIndexOf(database, chain)) return database;
    database.close();
    removeIndexFile(path);
    database = configured(provider, path);
    createTables(database, chain);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function configured(provider: SqliteProvider, path: string): SqliteDatabase {
  const database = provider.open(path);
  try {
    database.exec(`PRAGMA busy_timeout = 10000; PRAGMA page_size = 8192; PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL; PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = FILE`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
