/**
 * Rows of the PostgreSQL index within a transaction. Claims are loaded and written in batches, with their words, labels and
 * totals. Caches that outlive a transaction are valid only while all transactions succeed and no other node writes.
 */
import { createHash } from 'node:crypto';
import { fromHex, toHex } from '../../util/bytes.js';
import { FIELD_BREAK, TEXT_FIELDS, VALUE_BREAK } from '../document/analyze.js';
import type { ClaimChanges, FormerScore, KnownClaim, StoredDocument } from '../follow/claimChanges.js';
import { claimRow, documentLabels } from '../query/claimRow.js';
import type { ClaimDocument } from '../document/document.js';
import type { PostgresConnection, PostgresRow, PostgresValue } from './postgresProvider.js';
import { POSTGRES_COLUMNS, WORDS_COLUMNS } from './postgresSchema.js';
import type { SqlValue } from '../../sqlite/sqliteProvider.js';
import type { TextTotals } from '../hits/textScore.js';

/** Maximum number of rows in one statement. Arbitrary: some megabytes. */
const ROWS_OF_STATEMENT = 2000;
/** Maximum number of labels whose numbers are cached. Arbitrary. */
const REMEMBERED_LABELS = 200_000;
/** Maximum size of a label in bytes. Longer labels do not fit into a database index and are replaced by their hashes. */
const MAX_LABEL_BYTES = 512;

/** Converts a label to the form in which the index stores it. */
export function labelText(label: string): string {
  if (Buffer.byteLength(label) <= MAX_LABEL_BYTES) return label;
  return `#${createHash('sha256').update(label).digest('hex')}`;
}

/** Replaces unpaired surrogates, which appear if a word was cut within a character and which PostgreSQL does not accept. */
export function wellFormed(text: string): string {
  return /\p{Surrogate}/u.test(text) ? Buffer.from(text).toString() : text;
}

/** Returns the distinct words of a document. */
function distinctWords(packed: string): Set<string> {
  const words = new Set(packed.replaceAll(FIELD_BREAK, ' ').replaceAll(VALUE_BREAK, ' ').split(' '));
  words.delete('');
  return words;
}

function* parts<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < rows.length; at += ROWS_OF_STATEMENT) yield rows.slice(at, at + ROWS_OF_STATEMENT);
}

/** Converts rows to one array per column, as `unnest` needs them. */
export function columnsOf(rows: readonly (readonly SqlValue[])[], width: number): PostgresValue[] {
  return Array.from({ length: width }, (_, i) => rows.map((row) => row[i]!));
}

function insertSql(table: string, columns: readonly (readonly [string, string])[]): string {
  const names = columns.map(([name]) => name).join(', ');
  return `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${columns.map(([, type], i) => `$${i + 1}::${type}[]`).join(', ')})`;
}

const INSERT_CLAIMS = insertSql('claim', POSTGRES_COLUMNS);
const INSERT_WORDS = insertSql('words', WORDS_COLUMNS);
const BULK_COLUMNS = [...POSTGRES_COLUMNS, ...WORDS_COLUMNS.slice(1)];
const INSERT_BULK = insertSql('claim_bulk', BULK_COLUMNS);

export const NO_TOTALS: TextTotals = {
  documents: 0,
  withField: TEXT_FIELDS.map(() => 0),
  wordsInField: TEXT_FIELDS.map(() => 0),
};

const idsOf = (ids: Iterable<string>): Buffer[] => Array.from(ids, (id) => Buffer.from(fromHex(id)));
const isStored = (document: StoredDocument | ClaimDocument): document is StoredDocument =>
  'packed' in document;

function storedDocument(row: PostgresRow): StoredDocument {
  const labels = row['labels'] as string;
  return {
    id: row['id'] as number,
    labels: labels === '' ? [] : labels.split(',').map(Number),
    packed: row['packed'] as string,
    lengths: TEXT_FIELDS.map((_, i) => row[`length${i}`] as number),
  };
}

export class PostgresRows {
  private readonly connection: PostgresConnection;
  private labels = new Map<string, number>();
  private nextLabel: number;
  private totals: { documents: number; withField: number[]; wordsInField: number[] };
  private readonly wordCounts = new Map<string, number>();
  private readonly labelCounts = new Map<number, number>();

  private constructor(connection: PostgresConnection, nextLabel: number, totals: TextTotals) {
    this.connection = connection;
    this.nextLabel = nextLabel;
    this.totals = {
      documents: totals.documents,
      withField: [...totals.withField],
      wordsInField: [...totals.wordsInField],
    };
  }

  static async read(connection: PostgresConnection): Promise<PostgresRows> {
    const [last] = await connection.query('SELECT max(n) AS last FROM label');
    const [totals] = await connection.query(`SELECT value FROM state WHERE key = 'totals'`);
    return new PostgresRows(
      connection,
      ((last!['last'] as number | null) ?? 0) + 1,
      totals === undefined ? NO_TOTALS : (JSON.parse(totals['value'] as string) as TextTotals),
    );
  }

  get documents(): number {
    return this.totals.documents;
  }

  /** Loads those of the given claims that are in the index. */
  async load(claimIds: Iterable<string>): Promise<Map<string, KnownClaim>> {
    const known = new Map<string, KnownClaim>();
    for (const part of parts([...new Set(claimIds)])) {
      const ids = idsOf(part);
      const documents = await this.connection.query(
        `SELECT c.claim_id, c.trending_score, c.labels, w.* FROM claim c JOIN words w ON w.id = c.id
         WHERE c.claim_id = ANY($1::bytea[])`,
        [ids],
      );
      for (const row of documents) {
        known.set(toHex(row['claim_id'] as Buffer), {
          score: row['trending_score'] as number | null,
          document: storedDocument(row),
        });
      }
      const hidden = await this.connection.query('SELECT * FROM hidden WHERE claim_id = ANY($1::bytea[])', [
        ids,
      ]);
      for (const row of hidden) {
        known.set(toHex(row['claim_id'] as Buffer), { score: row['score'] as number | null, document: null });
      }
    }
    return known;
  }

  /**
   * Returns the claims whose document number one of `documents` has. These claims are from an abandoned branch and will be
   * read again.
   */
  async holders(documents: readonly ClaimDocument[]): Promise<string[]> {
    const own = new Set(documents.map(({ claimId }) => claimId));
    const found: string[] = [];
    for (const part of parts(documents)) {
      const rows = await this.connection.query('SELECT claim_id FROM claim WHERE id = ANY($1::bigint[])', [
        part.map(({ id }) => id),
      ]);
      found.push(...rows.map((row) => toHex(row['claim_id'] as Buffer)).filter((id) => !own.has(id)));
    }
    return found;
  }

  /** Inserts documents during a first build. `PostgresWriter.endBuild` derives the other rows from them. */
  async insertBulk(documents: readonly ClaimDocument[]): Promise<void> {
    const numbers = await this.labelNumbers(documents);
    for (const part of parts(documents)) {
      const rows = part.map((document) => [
        ...this.rowOf(document, null, numbers),
        wellFormed(document.words.packed),
        ...document.words.lengths,
      ]);
      await this.connection.query(INSERT_BULK, columnsOf(rows, BULK_COLUMNS.length));
    }
  }

  /** Stores the scores of claims without a document. */
  async hide(claims: readonly (readonly [claimId: string, score: number | null])[]): Promise<void> {
    for (const part of parts(claims)) {
      await this.connection.query(
        `INSERT INTO hidden SELECT * FROM unnest($1::bytea[], $2::float8[])
         ON CONFLICT (claim_id) DO UPDATE SET score = excluded.score`,
        [idsOf(part.map(([id]) => id)), part.map(([, score]) => score)],
      );
    }
  }

  /** Writes the changed claims. Stores their former scores for the block at `height`, unless it is null. */
  async write(changes: ClaimChanges, height: number | null): Promise<void> {
    const dropped: StoredDocument[] = [];
    const made: {
      readonly document: ClaimDocument;
      readonly score: number | null;
      readonly old: StoredDocument | null;
    }[] = [];
    const scored: (readonly [string, number | null])[] = [];
    const hidden: (readonly [string, number | null])[] = [];
    const shown: string[] = [];
    for (const [claimId, latter] of changes.changed) {
      const former = changes.stored.get(claimId) ?? null;
      const old = (former?.document ?? null) as StoredDocument | null;
      const document = latter?.document ?? null;
      if (document !== null && isStored(document)) {
        scored.push([claimId, latter!.score]);
        continue;
      }
      if (document !== null) made.push({ document, score: latter!.score, old });
      else if (old !== null) dropped.push(old);
      if (latter !== null && document === null) hidden.push([claimId, latter.score]);
      else if (former !== null && old === null) shown.push(claimId);
    }
    await this.remove([...dropped, ...made.flatMap(({ old }) => (old === null ? [] : [old]))]);
    await this.removeTexts(dropped);
    await this.insert(made);
    await this.writeScores(scored);
    await this.hide(hidden);
    for (const part of parts(shown))
      await this.connection.query('DELETE FROM hidden WHERE claim_id = ANY($1::bytea[])', [idsOf(part)]);
    if (height !== null) await this.writeUndo(height, [...changes.undo.values()]);
    await this.flush();
  }

  async writeState(key: string, value: unknown): Promise<void> {
    await this.connection.query(
      'INSERT INTO state VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
      [key, JSON.stringify(value)],
    );
  }

  private rowOf(
    document: ClaimDocument,
    score: number | null,
    numbers: ReadonlyMap<string, number>,
  ): SqlValue[] {
    const labels = documentLabels(document).map((label) => numbers.get(labelText(label))!);
    return [document.id, ...claimRow(document), score, labels.join(',')];
  }

  private async remove(documents: readonly StoredDocument[]): Promise<void> {
    this.totals.documents -= documents.length;
    for (const part of parts(documents))
      await this.connection.query('DELETE FROM claim WHERE id = ANY($1::bigint[])', [
        part.map(({ id }) => id),
      ]);
  }

  /** Removes the words and labels of documents. */
  private async removeTexts(documents: readonly StoredDocument[]): Promise<void> {
    await this.removeWords(documents);
    await this.removeLabels(documents.flatMap(({ id, labels }) => labels.map((n) => [n, id] as const)));
  }

  private async insert(
    made: readonly { document: ClaimDocument; score: number | null; old: StoredDocument | null }[],
  ): Promise<void> {
    const numbers = await this.labelNumbers(made.map(({ document }) => document));
    const lost: StoredDocument[] = [];
    const worded: ClaimDocument[] = [];
    const unlabeled: (readonly [number, number])[] = [];
    const labeled: (readonly [number, number])[] = [];
    for (const { document, old } of made) {
      const { id } = document;
      if (old === null || old.id !== id || old.packed !== wellFormed(document.words.packed)) {
        if (old !== null) lost.push(old);
        worded.push(document);
      }
      const latter = documentLabels(document).map((label) => numbers.get(labelText(label))!);
      const kept = new Set(old?.id === id ? old.labels.filter((n) => latter.includes(n)) : []);
      for (const n of old?.labels ?? []) if (!kept.has(n)) unlabeled.push([n, old!.id]);
      for (const n of latter) if (!kept.has(n)) labeled.push([n, id]);
    }
    this.totals.documents += made.length;
    for (const part of parts(made)) {
      const rows = part.map(({ document, score }) => this.rowOf(document, score, numbers));
      await this.connection.query(INSERT_CLAIMS, columnsOf(rows, POSTGRES_COLUMNS.length));
    }
    await this.removeWords(lost);
    await this.insertWords(worded);
    await this.removeLabels(unlabeled);
    this.count(labeled, 1);
    for (const part of parts(labeled)) {
      await this.connection.query(
        'INSERT INTO labeled SELECT * FROM unnest($1::int[], $2::bigint[])',
        columnsOf(part, 2),
      );
    }
  }

  private async removeWords(documents: readonly StoredDocument[]): Promise<void> {
    for (const { packed, lengths } of documents) this.countWords(packed, lengths, -1);
    for (const part of parts(documents))
      await this.connection.query('DELETE FROM words WHERE id = ANY($1::bigint[])', [
        part.map(({ id }) => id),
      ]);
  }

  private async insertWords(documents: readonly ClaimDocument[]): Promise<void> {
    for (const { words } of documents) this.countWords(wellFormed(words.packed), words.lengths, 1);
    for (const part of parts(documents)) {
      const rows = part.map(({ id, words }) => [id, wellFormed(words.packed), ...words.lengths]);
      await this.connection.query(INSERT_WORDS, columnsOf(rows, WORDS_COLUMNS.length));
    }
  }

  private async removeLabels(pairs: readonly (readonly [number, number])[]): Promise<void> {
    this.count(pairs, -1);
    for (const part of parts(pairs)) {
      await this.connection.query(
        'DELETE FROM labeled l USING unnest($1::int[], $2::bigint[]) AS x (n, id) WHERE l.n = x.n AND l.id = x.id',
        columnsOf(part, 2),
      );
    }
  }

  private async writeScores(scores: readonly (readonly [string, number | null])[]): Promise<void> {
    for (const part of parts(scores)) {
      await this.connection.query(
        `UPDATE claim SET trending_score = x.score FROM unnest($1::bytea[], $2::float8[]) AS x (claim_id, score)
         WHERE claim.claim_id = x.claim_id`,
        [idsOf(part.map(([id]) => id)), part.map(([, score]) => score)],
      );
    }
  }

  private async writeUndo(height: number, undo: readonly FormerScore[]): Promise<void> {
    for (const part of parts(undo)) {
      await this.connection.query(
        `INSERT INTO score_undo SELECT $1, x.* FROM unnest($2::bytea[], $3::int[], $4::float8[]) AS x
         ON CONFLICT (height, claim_id) DO NOTHING`,
        [
          height,
          idsOf(part.map(({ claimId }) => claimId)),
          part.map(({ existed }) => (existed ? 1 : 0)),
          part.map(({ score }) => score),
        ],
      );
    }
  }

  /** Returns the numbers of all labels of the documents. New labels are inserted. */
  private async labelNumbers(documents: readonly ClaimDocument[]): Promise<ReadonlyMap<string, number>> {
    if (this.labels.size >= REMEMBERED_LABELS) this.labels = new Map();
    const texts = new Set(documents.flatMap((document) => documentLabels(document).map(labelText)));
    const unknown = [...texts].filter((text) => !this.labels.has(text));
    for (const part of parts(unknown)) {
      const rows = await this.connection.query('SELECT n, text FROM label WHERE text = ANY($1::text[])', [
        part,
      ]);
      for (const { n, text } of rows) this.labels.set(text as string, n as number);
    }
    const added = unknown
      .filter((text) => !this.labels.has(text))
      .map((text) => [this.nextLabel++, text] as const);
    for (const [n, text] of added) this.labels.set(text, n);
    for (const part of parts(added)) {
      await this.connection.query(
        'INSERT INTO label SELECT n, text, 0 FROM unnest($1::int[], $2::text[]) AS x (n, text)',
        columnsOf(part, 2),
      );
    }
    return this.labels;
  }

  private countWords(packed: string, lengths: readonly number[], sign: 1 | -1): void {
    for (const word of distinctWords(packed))
      this.wordCounts.set(word, (this.wordCounts.get(word) ?? 0) + sign);
    lengths.forEach((length, i) => {
      this.totals.wordsInField[i]! += sign * length;
      if (length > 0) this.totals.withField[i]! += sign;
    });
  }

  private count(pairs: readonly (readonly [number, number])[], sign: 1 | -1): void {
    for (const [n] of pairs) this.labelCounts.set(n, (this.labelCounts.get(n) ?? 0) + sign);
  }

  /** Writes the changed counts and totals. Must be called before each commit. */
  private async flush(): Promise<void> {
    const labels = [...this.labelCounts].filter(([, change]) => change !== 0);
    const words = [...this.wordCounts].filter(([, change]) => change !== 0);
    this.labelCounts.clear();
    this.wordCounts.clear();
    for (const part of parts(labels)) {
      await this.connection.query(
        `UPDATE label SET count = count + x.change FROM unnest($1::int[], $2::int[]) AS x (n, change) WHERE label.n = x.n`,
        columnsOf(part, 2),
      );
    }
    for (const part of parts(words)) {
      await this.connection.query(
        `INSERT INTO word AS w SELECT * FROM unnest($1::text[], $2::int[])
         ON CONFLICT (word) DO UPDATE SET count = w.count + excluded.count`,
        columnsOf(part, 2),
      );
    }
    const fewer = words.filter(([, change]) => change < 0).map(([word]) => word);
    for (const part of parts(fewer))
      await this.connection.query('DELETE FROM word WHERE word = ANY($1::text[]) AND count <= 0', [part]);
    await this.writeState('totals', this.totals);
  }
}
