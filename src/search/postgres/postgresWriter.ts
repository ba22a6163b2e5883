/**
 * Writer of the PostgreSQL index, with one connection. Each call is one transaction, which also sets the new tip. After an
 * error the state in memory is invalid, and a new writer must be created.
 */
import { fromHex, toHex } from '../../util/bytes.js';
import { statesByStep } from '../follow/blockSteps.js';
import { ClaimChanges, type FormerScore } from '../follow/claimChanges.js';
import type { ClaimDocument } from '../document/document.js';
import {
  KEPT_BLOCKS,
  type BlockId,
  type BlockNote,
  type BlockScores,
  type BlockStep,
  type BuildState,
  type IndexState,
} from '../follow/indexChange.js';
import type { ClaimStates } from '../document/documentSource.js';
import type { PostgresConnection, PostgresRow } from './postgresProvider.js';
import { PostgresRows } from './postgresRows.js';
import {
  CREATE_INDEXES,
  DROP_INDEXES,
  EMPTY_TABLES,
  POSTGRES_COLUMNS,
  WORDS_VECTOR,
} from './postgresSchema.js';
import { TEXT_FIELDS } from '../document/analyze.js';
import { joinIds, splitIds } from '../sqlite/sqliteRows.js';
import { trendingAfter } from '../document/trending.js';

/**
 * SQL expression for the totals: number of documents, and for each field the number of documents that have it and of its
 * words.
 */
const TOTALS = `json_build_object('documents', count(*),
  'withField', json_build_array(${TEXT_FIELDS.map((_, i) => `count(*) FILTER (WHERE length${i} > 0)`).join(', ')}),
  'wordsInField', json_build_array(${TEXT_FIELDS.map((_, i) => `coalesce(sum(length${i}), 0)`).join(', ')}))`;

const COLUMN_NAMES = POSTGRES_COLUMNS.map(([name]) => name);
const WORDS_NAMES = `packed, ${TEXT_FIELDS.map((_, i) => `length${i}`).join(', ')}`;

/**
 * SQL statements that build the tables from the collected rows of a first build, sorted by number so that rows of the same
 * time are adjacent. If two claims have the same number, one of them belongs to a stale branch and is read again after the
 * build.
 */
const BUILD_STEPS: readonly string[] = [
  DROP_INDEXES,
  'TRUNCATE claim, words, word, labeled',
  `INSERT INTO claim (${COLUMN_NAMES.join(', ')})
   SELECT DISTINCT ON (b.id) ${COLUMN_NAMES.map((name) => (name === 'trending_score' ? 's.score' : `b.${name}`)).join(', ')}
   FROM claim_bulk b LEFT JOIN score_bulk s ON s.claim_id = b.claim_id ORDER BY b.id, b.claim_id`,
  `INSERT INTO words (id, ${WORDS_NAMES}) SELECT DISTINCT ON (id) id, ${WORDS_NAMES} FROM claim_bulk ORDER BY id, claim_id`,
  `INSERT INTO labeled SELECT unnest(string_to_array(labels, ','))::int AS n, id FROM claim WHERE labels <> '' ORDER BY 1, 2`,
  'UPDATE label SET count = x.count FROM (SELECT n, count(*) AS count FROM labeled GROUP BY n) x WHERE x.n = label.n',
  `INSERT INTO word SELECT t.lexeme, count(*) FROM words, unnest(${WORDS_VECTOR}) t GROUP BY t.lexeme`,
  // A claim may be listed as hidden although it has a document, because the blocks after the build list all their claims.
  'DELETE FROM hidden h USING claim c WHERE h.claim_id = c.claim_id',
  'UPDATE hidden SET score = s.score FROM score_bulk s WHERE s.claim_id = hidden.claim_id',
  `INSERT INTO state SELECT 'totals', ${TOTALS}::text FROM words ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  ...CREATE_INDEXES,
];

function noteOf(row: PostgresRow): BlockNote {
  return {
    height: row['height'] as number,
    hash: row['hash'] as string,
    claimIds: splitIds(row['ids'] as Buffer),
  };
}

export class PostgresWriter {
  private readonly connection: PostgresConnection;
  private readonly rows: PostgresRows;

  private constructor(connection: PostgresConnection, rows: PostgresRows) {
    this.connection = connection;
    this.rows = rows;
  }

  /** Creates a writer. The tables must exist, and no other node may write. */
  static async on(connection: PostgresConnection): Promise<PostgresWriter> {
    return new PostgresWriter(connection, await PostgresRows.read(connection));
  }

  async note(blocks: readonly BlockNote[]): Promise<void> {
    await this.transaction(() => this.writeNotes(blocks));
  }

  async applyBlocks(steps: readonly BlockStep[], states: ClaimStates): Promise<number> {
    const { height, hash } = steps.at(-1)!.block;
    await this.transaction(async () => {
      await this.writeNotes(steps.map(({ block }) => block));
      for (const [step, own] of statesByStep(steps, states)) await this.applyBlock(step, own);
      await this.rows.writeState('tip', { height, hash });
      await this.connection.query('DELETE FROM block WHERE height <= $1', [height - KEPT_BLOCKS]);
      await this.connection.query('DELETE FROM score_undo WHERE height <= $1', [height - KEPT_BLOCKS]);
    });
    return this.rows.documents;
  }

  private async applyBlock({ block, ended, scores }: BlockStep, states: ClaimStates): Promise<void> {
    const changes = await this.changes(
      states,
      scores.map(({ claimId }) => claimId),
      true,
    );
    changes.addStates(states, new Set(ended));
    changes.addScores(block.height, scores);
    await this.rows.write(changes, block.height);
  }

  async rewind(tip: BlockId, abandoned: readonly BlockId[], states: ClaimStates): Promise<void> {
    await this.transaction(async () => {
      const undo = await this.connection.query(
        'SELECT claim_id, existed, score FROM score_undo WHERE height > $1 ORDER BY height DESC',
        [tip.height],
      );
      const former = undo.map((row): FormerScore => ({
        claimId: toHex(row['claim_id'] as Buffer),
        existed: row['existed'] === 1,
        score: row['score'] as number | null,
      }));
      const changes = await this.changes(
        states,
        former.map(({ claimId }) => claimId),
        false,
      );
      changes.takeBack(former);
      await this.connection.query('DELETE FROM score_undo WHERE height > $1', [tip.height]);
      await this.forget(abandoned);
      changes.addStates(states, new Set());
      await this.rows.write(changes, null);
      await this.rows.writeState('tip', tip);
    });
  }

  async refresh(abandoned: readonly BlockId[], states: ClaimStates): Promise<void> {
    await this.transaction(async () => {
      await this.forget(abandoned);
      const changes = await this.changes(states, [], false);
      changes.addStates(states, new Set());
      await this.rows.write(changes, null);
    });
  }

  /** Empties the index and prepares it for a first build. */
  async startBuild(base: BlockId): Promise<void> {
    await this.transaction(async () => {
      await this.connection.query(`DELETE FROM state WHERE key IN ('tip', 'totals', 'build')`);
      await this.connection.query(EMPTY_TABLES);
      await this.writeNotes([{ ...base, claimIds: [] }]);
      const build: BuildState = { base, after: null, hasDocuments: false, scoredHeight: -1 };
      await this.rows.writeState('build', build);
    });
  }

  /** Adds documents during a first build, in order of claim ids. `after` is the last of these ids. */
  async addDocuments(
    documents: readonly ClaimDocument[],
    hidden: readonly string[],
    after: string | null,
  ): Promise<void> {
    await this.transaction(async () => {
      await this.rows.insertBulk(documents);
      await this.rows.hide(hidden.map((id) => [id, null]));
      if (after !== null) await this.writeBuild({ after });
    });
  }

  async endDocuments(): Promise<void> {
    await this.transaction(() => this.writeBuild({ hasDocuments: true }));
  }

  async addScores(blocks: readonly BlockScores[]): Promise<void> {
    const last = blocks.at(-1);
    if (last === undefined) return;
    await this.transaction(async () => {
      const ids = [...new Set(blocks.flatMap(({ scores }) => scores.map(({ claimId }) => claimId)))];
      const bytes = ids.map((id) => Buffer.from(fromHex(id)));
      const rows = await this.connection.query('SELECT * FROM score_bulk WHERE claim_id = ANY($1::bytea[])', [
        bytes,
      ]);
      const known = new Map(
        rows.map((row) => [toHex(row['claim_id'] as Buffer), row['score'] as number | null]),
      );
      for (const { height, scores } of blocks) {
        for (const { claimId, formerSat, latterSat } of scores)
          known.set(claimId, trendingAfter(known.get(claimId) ?? null, height, formerSat, latterSat));
      }
      await this.connection.query(
        `INSERT INTO score_bulk SELECT * FROM unnest($1::bytea[], $2::float8[])
         ON CONFLICT (claim_id) DO UPDATE SET score = excluded.score`,
        [bytes, ids.map((id) => known.get(id)!)],
      );
      await this.writeBuild({ scoredHeight: last.height });
    });
  }

  /** Builds all tables and database indexes from the collected rows. The base block of the build becomes the tip. */
  async endBuild(): Promise<void> {
    await this.transaction(async () => {
      for (const sql of BUILD_STEPS) await this.connection.query(sql);
      const [build] = await this.connection.query(`SELECT value FROM state WHERE key = 'build'`);
      const { base } = JSON.parse(build!['value'] as string) as BuildState;
      await this.rows.writeState('tip', base);
      await this.connection.query(`DELETE FROM state WHERE key = 'build'`);
      await this.connection.query('TRUNCATE claim_bulk, score_bulk');
    });
    // Collects the statistics that the query planner needs.
    for (const table of ['claim', 'words', 'labeled', 'label', 'word'])
      await this.connection.query(`VACUUM (ANALYZE) ${table}`);
  }

  private async changes(
    states: ClaimStates,
    others: readonly string[],
    keepsUndo: boolean,
  ): Promise<ClaimChanges> {
    const ids = [
      ...states.gone,
      ...states.hidden,
      ...states.documents.map(({ claimId }) => claimId),
      ...others,
    ];
    const holders = await this.rows.holders(states.documents);
    const changes = new ClaimChanges(await this.rows.load([...ids, ...holders]), keepsUndo);
    for (const claimId of holders) if (!ids.includes(claimId)) changes.hide(claimId);
    return changes;
  }

  private async forget(blocks: readonly BlockId[]): Promise<void> {
    await this.connection.query(
      'DELETE FROM block b USING unnest($1::int[], $2::text[]) AS x (height, hash) WHERE b.height = x.height AND b.hash = x.hash',
      [blocks.map(({ height }) => height), blocks.map(({ hash }) => hash)],
    );
  }

  private async writeNotes(blocks: readonly BlockNote[]): Promise<void> {
    await this.connection.query(
      `INSERT INTO block SELECT * FROM unnest($1::int[], $2::text[], $3::bytea[])
       ON CONFLICT (height, hash) DO UPDATE SET ids = excluded.ids`,
      [
        blocks.map(({ height }) => height),
        blocks.map(({ hash }) => hash),
        blocks.map(({ claimIds }) => joinIds(claimIds)),
      ],
    );
  }

  private async writeBuild(change: Partial<BuildState>): Promise<void> {
    const [row] = await this.connection.query(`SELECT value FROM state WHERE key = 'build'`);
    await this.rows.writeState('build', {
      ...(JSON.parse(row!['value'] as string) as BuildState),
      ...change,
    });
  }

  private async transaction(work: () => Promise<void>): Promise<void> {
    await this.connection.query('BEGIN');
    try {
      await work();
      await this.connection.query('COMMIT');
    } catch (error) {
      await this.connection.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }
}

/** Reads the state of the index, which the follower needs before it writes. Allowed while another node writes. */
export async function readIndexState(connection: PostgresConnection): Promise<IndexState> {
  const rows = await connection.query(`SELECT key, value FROM state WHERE key IN ('tip', 'build', 'totals')`);
  const values = new Map(rows.map(({ key, value }) => [key, JSON.parse(value as string) as never]));
  const totals = values.get('totals') as { readonly documents: number } | undefined;
  return {
    tip: values.get('tip') ?? null,
    build: values.get('build') ?? null,
    documents: totals?.documents ?? 0,
  };
}

export async function readNotes(connection: PostgresConnection): Promise<BlockNote[]> {
  return (await connection.query('SELECT height, hash, ids FROM block ORDER BY height')).map(noteOf);
}

/** Returns the documents that repost one of the claims and are not deleted. */
export async function readReposts(
  connection: PostgresConnection,
  claimIds: readonly string[],
): Promise<string[]> {
  if (claimIds.length === 0) return [];
  const rows = await connection.query(
    'SELECT claim_id FROM claim WHERE reposted_claim_id = ANY($1::bytea[])',
    [claimIds.map((id) => Buffer.from(fromHex(id)))],
  );
  return rows.map((row) => toHex(row['claim_id'] as Buffer));
}
