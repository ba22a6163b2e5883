/**
 * Tables of the search index in SQLite. The file is derived from the chain and may be deleted at any time; a file of another
 * version or chain is rebuilt. `claim` has a row for each document, without texts; `words` the packed words (`analyze.ts`);
 * `text_index` the documents of each word; `label` and `labeled` the tags, languages and locations. `hidden` has the scores
 * of live claims without a document. `block` has the claims that the latest blocks touched, and `score_undo` the former
 * scores, so that blocks can be disconnected.
 */
import type { SqliteDatabase } from '../../sqlite/sqliteProvider.js';

/** Version of the tables and their contents. A file with another version is rebuilt. */
const SCHEMA_VERSION = 6;

/**
 * ASCII characters besides letters and digits that count as parts of words: all except spaces and control characters.
 */
const WORD_SIGNS = "!\"#$%&''()*+,-./:;<=>?@[\\]^_`{|}~";

/** Columns of `claim` after `id`, in the order in which rows are written, with their SQL types. */
export const CLAIM_COLUMNS = [
  ['claim_id', 'BLOB NOT NULL'],
  ['claim_type', 'INTEGER NOT NULL'],
  ['normalized_name', 'TEXT NOT NULL'],
  ['tx_key', 'INTEGER NOT NULL'],
  ['tx_nout', 'INTEGER NOT NULL'],
  ['tx_num', 'INTEGER NOT NULL'],
  ['tx_position', 'INTEGER NOT NULL'],
  ['amount', 'INTEGER NOT NULL'],
  ['effective_amount', 'INTEGER NOT NULL'],
  ['support_amount', 'INTEGER NOT NULL'],
  ['height', 'INTEGER NOT NULL'],
  ['creation_height', 'INTEGER NOT NULL'],
  ['activation_height', 'INTEGER NOT NULL'],
  ['expiration_height', 'INTEGER NOT NULL'],
  ['timestamp', 'INTEGER NOT NULL'],
  ['creation_timestamp', 'INTEGER NOT NULL'],
  ['is_controlling', 'INTEGER NOT NULL'],
  ['last_take_over_height', 'INTEGER NOT NULL'],
  ['title', 'TEXT'],
  ['author', 'TEXT'],
  ['description_key', 'INTEGER'],
  ['has_source', 'INTEGER NOT NULL'],
  ['sd_hash', 'BLOB'],
  ['media_type', 'TEXT'],
  ['stream_type', 'INTEGER'],
  ['fee_amount', 'INTEGER'],
  ['fee_currency', 'TEXT'],
  ['duration', 'INTEGER'],
  ['release_time', 'INTEGER NOT NULL'],
  ['repost_count', 'INTEGER NOT NULL'],
  ['reposted_claim_id', 'BLOB'],
  ['reposted_claim_type', 'INTEGER'],
  ['channel_id', 'BLOB'],
  ['signature_key', 'INTEGER'],
  ['is_signature_valid', 'INTEGER NOT NULL'],
  ['public_key_id', 'TEXT'],
  ['claims_in_channel', 'INTEGER'],
  ['is_reposted_gone', 'INTEGER NOT NULL'],
  ['content_width', 'INTEGER'],
  ['content_height', 'INTEGER'],
  ['content_aspect_ratio', 'REAL'],
  ['trending_score', 'REAL'],
  ['labels', 'TEXT NOT NULL'],
] as const;

/**
 * SQL statement that creates the database index by claim id. It is the first one created at the end of a first build,
 * because it is used to assign scores to claims.
 */
export const CLAIM_ID_INDEX = 'CREATE UNIQUE INDEX IF NOT EXISTS claim_by_id ON claim (claim_id)';

/** Database indexes by sort column. With them, the first hits of an order are found without reading all documents. */
export const ORDER_INDEXES: Readonly<Record<string, string>> = {
  trending_score: 'claim_by_trending',
  release_time: 'claim_by_release',
  effective_amount: 'claim_by_effective',
  support_amount: 'claim_by_support',
  amount: 'claim_by_amount',
  creation_timestamp: 'claim_by_creation_time',
  creation_height: 'claim_by_creation',
  height: 'claim_by_height',
  timestamp: 'claim_by_time',
  normalized_name: 'claim_by_name',
  repost_count: 'claim_by_reposts',
};

const OTHER_INDEXES = [
  'CREATE INDEX IF NOT EXISTS claim_by_channel ON claim (channel_id) WHERE channel_id IS NOT NULL',
  'CREATE INDEX IF NOT EXISTS claim_by_reposted ON claim (reposted_claim_id) WHERE reposted_claim_id IS NOT NULL',
  'CREATE INDEX IF NOT EXISTS claim_by_tx ON claim (tx_key)',
  'CREATE INDEX IF NOT EXISTS claim_by_sd_hash ON claim (substr(sd_hash, 1, 8)) WHERE sd_hash IS NOT NULL',
  'CREATE INDEX IF NOT EXISTS claim_by_key ON claim (public_key_id) WHERE public_key_id IS NOT NULL',
];

/**
 * Columns with a database index whose values may change. An update statement that does not assign a column leaves the
 * database index of the column unchanged.
 */
export const INDEXED_COLUMNS: readonly string[] = [
  ...Object.keys(ORDER_INDEXES).filter((column) => column !== 'trending_score'),
  'channel_id',
  'reposted_claim_id',
  'tx_key',
  'sd_hash',
  'public_key_id',
];

/** SQL statement that fills the table `labeled` from the label lists in the rows of `claim`. */
export const FILL_LABELED = `
  INSERT OR IGNORE INTO labeled
  SELECT one.value, c.id FROM claim c, json_each('[' || c.labels || ']') one ORDER BY 1, 2`;

/** SQL statements that create all database indexes except the one by claim id. They are executed at the end of a first build. */
export const SECONDARY_INDEXES: readonly string[] = [
  ...Object.entries(ORDER_INDEXES).map(([column, name]) => {
    const columns = column === 'trending_score' ? 'trending_score, release_time' : column;
    return `CREATE INDEX IF NOT EXISTS ${name} ON claim (${columns})`;
  }),
  ...OTHER_INDEXES,
];

const TABLES = `
  CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE claim (id INTEGER PRIMARY KEY, ${CLAIM_COLUMNS.map((column) => column.join(' ')).join(', ')});
  CREATE TABLE words (
    id INTEGER PRIMARY KEY, packed TEXT NOT NULL,
    length0 INTEGER NOT NULL, length1 INTEGER NOT NULL, length2 INTEGER NOT NULL, length3 INTEGER NOT NULL,
    length4 INTEGER NOT NULL
  );
  CREATE VIRTUAL TABLE text_index USING fts5(
    words, content='', contentless_delete=1, detail=none, tokenize="ascii tokenchars '${WORD_SIGNS.replaceAll('"', '""')}'"
  );
  CREATE VIRTUAL TABLE vocabulary USING fts5vocab(text_index, row);
  CREATE TABLE label (n INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, count INTEGER NOT NULL);
  CREATE TABLE labeled (n INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (n, id)) WITHOUT ROWID;
  CREATE TABLE hidden (claim_id BLOB PRIMARY KEY, score REAL) WITHOUT ROWID;
  CREATE TABLE block (height INTEGER NOT NULL, hash TEXT NOT NULL, ids BLOB NOT NULL, PRIMARY KEY (height, hash));
  CREATE TABLE score_undo (
    height INTEGER NOT NULL, claim_id BLOB NOT NULL, existed INTEGER NOT NULL, score REAL, PRIMARY KEY (height, claim_id)
  ) WITHOUT ROWID;
`;

/** Creates the tables in an empty file. `chain` identifies the chain: the hash of its genesis block. */
export function createTables(database: SqliteDatabase, chain: string): void {
  database.exec('BEGIN');
  database.exec(TABLES);
  const state = database.prepare('INSERT INTO state VALUES (?, ?)');
  state.run('version', String(SCHEMA_VERSION));
  state.run('chain', chain);
  database.exec('COMMIT');
}

/** Whether the file is an index of this version and chain; false for an empty file. Throws if the file cannot be read. */
export function isIndexOf(database: SqliteDatabase, chain: string): boolean {
  const tables = database.prepare(`SELECT count(*) AS n FROM sqlite_schema WHERE name = 'state'`).get()!;
  if (tables['n'] === 0) return false;
  const read = database.prepare('SELECT value FROM state WHERE key = ?');
  return read.get('version')?.['value'] === String(SCHEMA_VERSION) && read.get('chain')?.['value'] === chain;
}
