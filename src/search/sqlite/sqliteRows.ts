/** Writes, replaces and deletes single documents of the SQLite index, with their words, labels and totals. */
import { fromHex, toHex } from '../../util/bytes.js';
import { TEXT_FIELDS } from '../document/analyze.js';
import { claimRow, documentLabels } from '../query/claimRow.js';
import type { ClaimDocument } from '../document/document.js';
import { CLAIM_COLUMNS, INDEXED_COLUMNS } from './schema.js';
import type { SqliteDatabase, SqliteStatement } from '../../sqlite/sqliteProvider.js';
import type { TextTotals } from '../hits/textScore.js';

/** Maximum number of labels whose numbers are cached. Arbitrary. */
const REMEMBERED_LABELS = 200_000;
/** Maximum number of cached update statements, of 2^15 possible ones. Arbitrary; a chain needs some dozens. */
const REMEMBERED_UPDATES = 500;

/** Totals that are needed for ranking, in memory so that changes can be added. */
interface Totals {
  documents: number;
  withField: number[];
  wordsInField: number[];
}

export class SqliteRows {
  private readonly database: SqliteDatabase;
  private readonly statements = new Map<string, SqliteStatement>();
  private labels = new Map<string, number>();
  private nextLabel: number;
  private readonly counts = new Map<number, number>();
  private readonly totals: Totals;

  constructor(database: SqliteDatabase) {
    this.database = database;
    const { last } = database.prepare('SELECT max(n) AS last FROM label').get() as { last: number | null };
    this.nextLabel = (last ?? 0) + 1;
    this.totals = readTotals(database);
  }

  get documents(): number {
    return this.totals.documents;
  }

  statement(sql: string): SqliteStatement {
    let statement = this.statements.get(sql);
    if (statement === undefined) this.statements.set(sql, (statement = this.database.prepare(sql)));
    return statement;
  }

  /** Inserts a new document. During a first build, its labels are stored only in its row until the end of the build. */
  insert(document: ClaimDocument, score: number | null, isBulk: boolean): void {
    const { id, words } = document;
    const numbers = documentLabels(document).map((text) => this.labelNumber(text));
    this.statement(INSERT_CLAIM).run(id, ...claimRow(document), score, numbers.join(','));
    for (const n of numbers) {
      if (!isBulk) this.statement('INSERT INTO labeled VALUES (?, ?)').run(n, id);
      this.counts.set(n, (this.counts.get(n) ?? 0) + 1);
    }
    this.insertWords(id, words.packed, words.lengths);
    this.totals.documents++;
  }

  /**
   * Removes the document of another claim that has this document number. Returns that claim and its score; null if there is
   * none.
   */
  removeHolder({
    id,
    claimId,
  }: ClaimDocument): { readonly claimId: Uint8Array; readonly score: number | null } | null {
    const row = this.statement('SELECT claim_id FROM claim WHERE id = ?').get(id);
    const holder = row?.['claim_id'] as Uint8Array | undefined;
    if (holder === undefined || toHex(holder) === claimId) return null;
    return { claimId: holder, score: this.remove(holder) ?? null };
  }

  /**
   * Inserts or replaces the document of a claim. A replaced document keeps its score; a new one gets `score`. No other claim
   * may have the document number.
   */
  put(document: ClaimDocument, score: number | null): void {
    const claimId = fromHex(document.claimId);
    const row = claimRow(document);
    const old = this.statement(FIND_CLAIM).get(claimId, ...INDEXED_PLACES.map((place) => row[place]!));
    if (old === undefined) {
      this.insert(document, score, false);
      return;
    }
    const kept = old['trending_score'] as number | null;
    if (old['id'] !== document.id) {
      this.remove(claimId);
      this.put(document, kept);
      return;
    }
    const numbers = documentLabels(document).map((text) => this.labelNumber(text));
    const { sql, places } = updateOf(old['changed'] as number);
    this.statement(sql).run(...places.map((place) => row[place]!), numbers.join(','), document.id);
    this.changeLabels(document.id, labelNumbers(old['labels'] as string), numbers);
    const { packed, lengths } = document.words;
    const words = this.statement('SELECT packed FROM words WHERE id = ?').get(document.id)!;
    if (words['packed'] !== packed) {
      this.removeWords(document.id);
      this.insertWords(document.id, packed, lengths);
    }
  }

  /** Removes a claim's document. Returns its score, or undefined if the claim has no document. */
  remove(claimId: Uint8Array): number | null | undefined {
    const old = this.statement('SELECT id, trending_score, labels FROM claim WHERE claim_id = ?').get(
      claimId,
    );
    if (old === undefined) return undefined;
    const id = old['id'] as number;
    this.changeLabels(id, labelNumbers(old['labels'] as string), []);
    this.removeWords(id);
    this.statement('DELETE FROM claim WHERE id = ?').run(id);
    this.totals.documents--;
    return old['trending_score'] as number | null;
  }

  /** Writes the totals and label counts that changed in memory. Must be called before each commit. */
  flush(): void {
    const count = this.statement('UPDATE label SET count = count + ? WHERE n = ?');
    for (const [n, change] of this.counts) if (change !== 0) count.run(change, n);
    this.counts.clear();
    this.statement(`INSERT OR REPLACE INTO state VALUES ('totals', ?)`).run(JSON.stringify(this.totals));
  }

  /** Returns the score of a claim's document; undefined if the claim has no document. */
  scoreOf(claimId: Uint8Array): { readonly score: number | null } | undefined {
    const row = this.statement('SELECT trending_score FROM claim WHERE claim_id = ?').get(claimId);
    return row && { score: row['trending_score'] as number | null };
  }

  private labelNumber(text: string): number {
    const known = this.labels.get(text);
    if (known !== undefined) return known;
    if (this.labels.size >= REMEMBERED_LABELS) this.labels = new Map();
    const row = this.statement('SELECT n FROM label WHERE text = ?').get(text);
    const n = row === undefined ? this.nextLabel++ : (row['n'] as number);
    if (row === undefined) this.statement('INSERT INTO label VALUES (?, ?, 0)').run(n, text);
    this.labels.set(text, n);
    return n;
  }

  private changeLabels(id: number, former: readonly number[], latter: readonly number[]): void {
    for (const n of former) {
      if (latter.includes(n)) continue;
      this.statement('DELETE FROM labeled WHERE n = ? AND id = ?').run(n, id);
      this.counts.set(n, (this.counts.get(n) ?? 0) - 1);
    }
    for (const n of latter) {
      if (former.includes(n)) continue;
      this.statement('INSERT INTO labeled VALUES (?, ?)').run(n, id);
      this.counts.set(n, (this.counts.get(n) ?? 0) + 1);
    }
  }

  private insertWords(id: number, packed: string, lengths: readonly number[]): void {
    this.statement('INSERT INTO words VALUES (?, ?, ?, ?, ?, ?, ?)').run(id, packed, ...lengths);
    this.statement('INSERT INTO text_index (rowid, words) VALUES (?, ?)').run(id, packed);
    this.addLengths(lengths, 1);
  }

  private removeWords(id: number): void {
    const row = this.statement('SELECT * FROM words WHERE id = ?').get(id)!;
    this.addLengths(
      TEXT_FIELDS.map((_, i) => row[`length${i}`] as number),
      -1,
    );
    this.statement('DELETE FROM words WHERE id = ?').run(id);
    this.statement('DELETE FROM text_index WHERE rowid = ?').run(id);
  }

  private addLengths(lengths: readonly number[], sign: 1 | -1): void {
    lengths.forEach((length, i) => {
      this.totals.wordsInField[i]! += sign * length;
      if (length > 0) this.totals.withField[i]! += sign;
    });
  }
}

const COLUMN_NAMES: readonly string[] = CLAIM_COLUMNS.map(([name]) => name);
const INSERT_CLAIM = `INSERT INTO claim VALUES (${['?', ...COLUMN_NAMES.map(() => '?')].join(', ')})`;
/** Positions in a row of the columns that may change: those with a database index, and the others. */
const INDEXED_PLACES = INDEXED_COLUMNS.map((name) => COLUMN_NAMES.indexOf(name));
const PLAIN_PLACES = COLUMN_NAMES.flatMap((name, place) =>
  INDEXED_COLUMNS.includes(name) || ['claim_id', 'trending_score', 'labels'].includes(name) ? [] : [place],
);
/** SQL statement that finds the row of a claim, and a bit for each indexed column whose value differs from the new value. */
const FIND_CLAIM = `SELECT id, trending_score, labels, ${INDEXED_COLUMNS.map(
  (name, bit) => `((${name} IS NOT ?${bit + 2}) << ${bit})`,
).join(' | ')} AS changed FROM claim WHERE claim_id = ?1`;

const updates = new Map<number, { readonly sql: string; readonly places: readonly number[] }>();

/**
 * Returns the update statement for a set of changed indexed columns. SQLite rewrites each database index with an assigned
 * column, whether the value changed or not, so only changed columns are assigned.
 */
function updateOf(changed: number): { readonly sql: string; readonly places: readonly number[] } {
  let update = updates.get(changed);
  if (update === undefined) {
    const places = [...PLAIN_PLACES, ...INDEXED_PLACES.filter((_, bit) => changed & (1 << bit))];
    const columns = [...places.map((place) => COLUMN_NAMES[place]), 'labels'];
    update = {
      sql: `UPDATE claim SET ${columns.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`,
      places,
    };
    if (updates.size >= REMEMBERED_UPDATES) updates.clear();
    updates.set(changed, update);
  }
  return update;
}

function labelNumbers(text: string): number[] {
  return text === '' ? [] : text.split(',').map(Number);
}

/** Reads the totals that are stored in the index. */
export function readTotals(database: SqliteDatabase): TextTotals & Totals {
  const row = database.prepare(`SELECT value FROM state WHERE key = 'totals'`).get();
  if (row !== undefined) return JSON.parse(row['value'] as string) as Totals;
  return { documents: 0, withField: TEXT_FIELDS.map(() => 0), wordsInField: TEXT_FIELDS.map(() => 0) };
}

/** Concatenates hex ids to one byte value; `splitIds` reverses it. */
export function joinIds(ids: readonly string[]): Uint8Array {
  return fromHex(ids.join(''));
}

export function splitIds(joined: Uint8Array): string[] {
  const hex = toHex(joined);
  const ids: string[] = [];
  for (let at = 0; at < hex.length; at += 40) ids.push(hex.slice(at, at + 40));
  return ids;
}
