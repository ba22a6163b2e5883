/**
 * Tables of the search index in PostgreSQL, all in one schema. They are derived from the chain, so tables of an older
 * version are rebuilt. A schema with another chain, a newer version or other data is rejected and not changed. The tables
 * are those of SQLite (`schema.ts`), with these differences. A database index over the packed words finds the documents of a
 * word. The table `word` has the number of documents with each word. A first build collects documents in `claim_bulk` and
 * scores in `score_bulk`, from which all other tables are built in one step.
 */
import { EnvironmentError } from '../../util/text/environmentError.js';
import { quoteName, type PostgresConnection } from './postgresProvider.js';
import { CLAIM_COLUMNS, ORDER_INDEXES } from '../sqlite/schema.js';

/** Version of the tables and their contents. */
export const POSTGRES_SCHEMA_VERSION = 5;

const TYPES: Readonly<Record<string, string>> = {
  BLOB: 'bytea',
  INTEGER: 'bigint',
  TEXT: 'text COLLATE "C"',
  REAL: 'double precision',
};

/** Columns of `claim` with the SQL types of their values. */
export const POSTGRES_COLUMNS: readonly (readonly [name: string, type: string])[] = [
  ['id', 'bigint'],
  ...CLAIM_COLUMNS.map(([name, type]) => [name, TYPES[type.split(' ')[0]!]!.split(' COLLATE')[0]!] as const),
];

export const WORDS_COLUMNS: readonly (readonly [name: string, type: string])[] = [
  ['id', 'bigint'],
  ['packed', 'text'],
  ...[0, 1, 2, 3, 4].map((n) => [`length${n}`, 'integer'] as const),
];

const claimColumns = CLAIM_COLUMNS.map(([name, type]) => {
  const [kind, ...rest] = type.split(' ') as [string, ...string[]];
  return [name, TYPES[kind], ...rest].join(' ');
}).join(', ');
const wordsColumns = `packed text COLLATE "C" NOT NULL, ${[0, 1, 2, 3, 4].map((n) => `length${n} integer NOT NULL`).join(', ')}`;

const TABLES: Readonly<Record<string, string>> = {
  state: 'key text PRIMARY KEY, value text NOT NULL',
  claim: `id bigint NOT NULL, ${claimColumns}`,
  words: `id bigint NOT NULL, ${wordsColumns}`,
  word: 'word text COLLATE "C" NOT NULL, count integer NOT NULL',
  label: 'n integer PRIMARY KEY, text text COLLATE "C" NOT NULL UNIQUE, count integer NOT NULL',
  labeled: 'n integer NOT NULL, id bigint NOT NULL',
  hidden: 'claim_id bytea PRIMARY KEY, score double precision',
  block: 'height integer NOT NULL, hash text NOT NULL, ids bytea NOT NULL, PRIMARY KEY (height, hash)',
  score_undo:
    'height integer NOT NULL, claim_id bytea NOT NULL, existed integer NOT NULL, score double precision, PRIMARY KEY (height, claim_id)',
  claim_bulk: `id bigint NOT NULL, ${claimColumns}, ${wordsColumns}`,
  score_bulk: 'claim_id bytea PRIMARY KEY, score double precision) WITH (fillfactor = 70',
};

/** SQL expression for the words of a document without positions, over which the database index is created. */
export const WORDS_VECTOR = `array_to_tsvector(array_remove(string_to_array(translate(packed, E'\\x1e\\x1f', '  '), ' '), ''))`;

/** Columns of `ORDER_INDEXES` that may be null. Null values come last in both sort directions. */
const NULLABLE_ORDERS: ReadonlySet<string> = new Set(['trending_score']);

const orderIndexes = Object.entries(ORDER_INDEXES).flatMap(([column, name]): [string, string][] => {
  if (!NULLABLE_ORDERS.has(column)) return [[name, `claim (${column})`]];
  const terms = column === 'trending_score' ? ['trending_score', 'release_time'] : [column];
  return [
    [name, `claim (${terms.map((term) => `${term} DESC NULLS LAST`).join(', ')})`],
    [`${name}_rising`, `claim (${column})`],
  ];
});

/** Database indexes that are created at the end of a first build. */
const INDEXES: readonly (readonly [name: string, on: string, unique?: true])[] = [
  ['claim_by_number', 'claim (id)', true],
  ['claim_by_id', 'claim (claim_id)', true],
  ['words_by_number', 'words (id)', true],
  ['words_by_word', `words USING gin ((${WORDS_VECTOR}))`],
  ['word_by_text', 'word (word)', true],
  ['labeled_by_label', 'labeled (n, id)', true],
  ['labeled_by_number', 'labeled (id, n)'],
  ...orderIndexes,
  ['claim_by_channel', 'claim (channel_id) WHERE channel_id IS NOT NULL'],
  ['claim_by_reposted', 'claim (reposted_claim_id) WHERE reposted_claim_id IS NOT NULL'],
  ['claim_by_tx', 'claim (tx_key)'],
  ['claim_by_sd_hash', 'claim (substr(sd_hash, 1, 8)) WHERE sd_hash IS NOT NULL'],
  ['claim_by_key', 'claim (public_key_id) WHERE public_key_id IS NOT NULL'],
];

export const DROP_INDEXES = INDEXES.map(([name]) => `DROP INDEX IF EXISTS ${name}`).join('; ');
export const CREATE_INDEXES: readonly string[] = INDEXES.map(
  ([name, on, unique]) => `CREATE ${unique === true ? 'UNIQUE ' : ''}INDEX ${name} ON ${on}`,
);
/** SQL statement that empties all tables except `state`, which describes them. */
export const EMPTY_TABLES = `TRUNCATE ${Object.keys(TABLES)
  .filter((name) => name !== 'state')
  .join(', ')}`;

/** Content of a schema: an index that can be used, no tables, or an index of an older version. */
export type SchemaContent = 'index' | 'nothing' | 'older';

/**
 * Determines the content of the connection's schema. Throws `EnvironmentError` for content that must neither be used nor
 * removed.
 */
export async function schemaContent(connection: PostgresConnection, chain: string): Promise<SchemaContent> {
  const { schema } = connection;
  const rows = await connection.query(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'v', 'm', 'p', 'f')`,
    [schema],
  );
  if (rows.length === 0) return 'nothing';
  const refuse = (reason: string) =>
    new EnvironmentError(
      `The schema ${schema} of the PostgreSQL database ${reason}. Choose another schema with ` +
        '-claimsearchschema, or remove it (DROP SCHEMA)',
    );
  if (!rows.some(({ name }) => name === 'state'))
    throw refuse('contains tables that do not belong to a search index');
  const state = await connection.query(`SELECT key, value FROM state WHERE key IN ('version', 'chain')`);
  const values = new Map(state.map(({ key, value }) => [key, value as string]));
  const version = Number(values.get('version'));
  if (!Number.isSafeInteger(version)) throw refuse('contains tables that do not belong to a search index');
  if (values.get('chain') !== chain) throw refuse('contains the search index of another chain');
  if (version > POSTGRES_SCHEMA_VERSION)
    throw refuse('contains a search index of a later version of lbcnode');
  return version === POSTGRES_SCHEMA_VERSION ? 'index' : 'older';
}

/** Creates empty tables. Replaces the content that `schemaContent` found. */
export async function createIndexTables(connection: PostgresConnection, chain: string): Promise<void> {
  const schema = quoteName(connection.schema);
  const [found] = await connection.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [
    connection.schema,
  ]);
  await connection.query('BEGIN');
  try {
    if (found === undefined) await connection.query(`CREATE SCHEMA ${schema}`);
    for (const [name, columns] of Object.entries(TABLES)) {
      await connection.query(`DROP TABLE IF EXISTS ${schema}.${name}`);
      await connection.query(`CREATE TABLE ${schema}.${name} (${columns})`);
    }
    await connection.query(`INSERT INTO state VALUES ('version', $1), ('chain', $2)`, [
      String(POSTGRES_SCHEMA_VERSION),
      chain,
    ]);
    await connection.query('COMMIT');
  } catch (error) {
    await connection.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
