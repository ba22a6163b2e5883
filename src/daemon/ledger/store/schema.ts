/**
 * Schema of the ledger's database, and its opening. A file of another version or chain, or a corrupt file, is rebuilt,
 * because all its data comes from the chain. A corrupt file is quarantined first, even if the corruption was found during use.
 */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { SqliteDatabase, SqliteProvider } from '../../../sqlite/sqliteProvider.js';
import { sqliteFileError } from '../../../sqlite/sqliteFileError.js';
import { refuseSpecialFile } from '../../../util/files/specialFile.js';

/** Version of the schema and its contents. */
const VERSION = 3;
/** Schema version that did not have the table `former_use` yet. */
const WITHOUT_FORMER_USES = 2;

/** Value by which mempool transactions are sorted, above all block heights. */
const MEMPOOL_RANK = 2 ** 30;
/** Number of positions in a block that a sort value can distinguish. */
const POSITIONS = 2 ** 21;

/**
 * Descending sort key of lists: unconfirmed transactions first (those with confirmed inputs before others), then by height
 * and position.
 */
export function sortKey(height: number, position: number): number {
  const rank = height > 0 ? height : height >= -1 ? MEMPOOL_RANK + height : 0;
  return rank * POSITIONS + Math.max(0, position);
}

/**
 * Table of txids that count as uses of an address although they are not in its present history: they left the history, or
 * may still enter it.
 */
const FORMER_USE = `
  CREATE TABLE former_use (address INTEGER NOT NULL, txid BLOB NOT NULL, PRIMARY KEY (address, txid)) WITHOUT ROWID;
`;

/**
 * `owner` is the number of a set of accounts that share an address; 0 is the empty set. Output rows have copies of the
 * transaction fields that lists use for filters and order. `prev` is an outpoint of 36 bytes. `is_reserved` is 2 for a
 * reservation of an earlier run. `owned_at` is a counter that grows with each change of an address's owner; `filed_at` is
 * the highest counter at the last update of a transaction.
 */
const TABLES = `
  CREATE TABLE note (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE account (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE owner_account (owner INTEGER NOT NULL, account INTEGER NOT NULL, PRIMARY KEY (owner, account)) WITHOUT ROWID;
  CREATE TABLE address (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE,
    owner INTEGER NOT NULL DEFAULT 0,
    owned_at INTEGER NOT NULL DEFAULT 0,
    status TEXT,
    used_times INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX address_owned ON address (owned_at);
  CREATE TABLE account_address (
    account INTEGER NOT NULL,
    chain INTEGER NOT NULL,
    n INTEGER NOT NULL,
    address INTEGER NOT NULL,
    public_key BLOB NOT NULL,
    chain_code BLOB NOT NULL,
    depth INTEGER NOT NULL,
    PRIMARY KEY (account, chain, n)
  ) WITHOUT ROWID;
  CREATE INDEX account_address_address ON account_address (address);
  CREATE TABLE history (address INTEGER NOT NULL, n INTEGER NOT NULL, tx INTEGER NOT NULL, PRIMARY KEY (address, n)) WITHOUT ROWID;
  CREATE INDEX history_tx ON history (tx, address);
  ${FORMER_USE}
  CREATE TABLE tx (
    id INTEGER PRIMARY KEY,
    txid BLOB NOT NULL UNIQUE,
    raw BLOB NOT NULL,
    height INTEGER NOT NULL,
    position INTEGER NOT NULL,
    is_verified INTEGER NOT NULL,
    sort_key INTEGER NOT NULL,
    first_prev BLOB NOT NULL,
    purchased_claim_id TEXT,
    filed_at INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX tx_sort ON tx (sort_key DESC);
  CREATE INDEX tx_height ON tx (height);
  CREATE INDEX tx_purchase ON tx (purchased_claim_id) WHERE purchased_claim_id IS NOT NULL;
  CREATE TABLE tx_owner (
    owner INTEGER NOT NULL,
    sort_key INTEGER NOT NULL,
    tx INTEGER NOT NULL,
    spends INTEGER NOT NULL,
    PRIMARY KEY (owner, sort_key, tx)
  ) WITHOUT ROWID;
  CREATE INDEX tx_owner_tx ON tx_owner (tx);
  CREATE TABLE txi (prev BLOB NOT NULL, tx INTEGER NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (prev, tx)) WITHOUT ROWID;
  CREATE INDEX txi_tx ON txi (tx);
  CREATE TABLE txo (
    id INTEGER PRIMARY KEY,
    tx INTEGER NOT NULL,
    nout INTEGER NOT NULL,
    address INTEGER NOT NULL,
    owner INTEGER NOT NULL,
    input_owner INTEGER NOT NULL,
    spent_by INTEGER,
    is_reserved INTEGER NOT NULL DEFAULT 0,
    height INTEGER NOT NULL,
    sort_key INTEGER NOT NULL,
    day INTEGER,
    amount INTEGER NOT NULL,
    script BLOB NOT NULL,
    txo_type INTEGER NOT NULL,
    claim_id TEXT,
    claim_name TEXT,
    has_source INTEGER NOT NULL,
    channel_id TEXT,
    reposted_claim_id TEXT,
    UNIQUE (tx, nout)
  );
  CREATE INDEX txo_list ON txo (owner, sort_key DESC, tx DESC, nout);
  CREATE INDEX txo_order ON txo (sort_key DESC, tx DESC, nout);
  CREATE INDEX txo_unspent ON txo (owner, txo_type, input_owner, height, sort_key, nout, amount)
    WHERE spent_by IS NULL AND is_reserved = 0;
  CREATE INDEX txo_coin ON txo (owner, amount, sort_key DESC, tx DESC, nout, height)
    WHERE spent_by IS NULL AND is_reserved = 0 AND txo_type IN (0, 4);
  CREATE INDEX txo_type ON txo (txo_type, owner, sort_key DESC) WHERE txo_type <> 0;
  CREATE INDEX txo_sent ON txo (input_owner, sort_key DESC, tx DESC, nout) WHERE input_owner <> 0;
  CREATE INDEX txo_reserved ON txo (is_reserved) WHERE is_reserved <> 0;
  CREATE INDEX txo_spender ON txo (spent_by) WHERE spent_by IS NOT NULL;
  CREATE INDEX txo_address ON txo (address);
  CREATE INDEX txo_claim ON txo (claim_id) WHERE claim_id IS NOT NULL;
  CREATE INDEX txo_name ON txo (claim_name) WHERE claim_name IS NOT NULL;
  CREATE INDEX txo_channel ON txo (channel_id) WHERE channel_id IS NOT NULL;
  CREATE INDEX txo_repost ON txo (reposted_claim_id) WHERE reposted_claim_id IS NOT NULL;
`;

/** Size of SQLite's page cache in KiB. Arbitrary. */
const CACHE_KIB = 16 << 10;

/**
 * With `synchronous` NORMAL a power failure may lose the last writes, which can be restored from the chain. A crash of the
 * process loses none.
 */
const PRAGMAS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA cache_size = -${CACHE_KIB};
  PRAGMA temp_store = MEMORY;
`;

const SQLITE_CORRUPT = 11;
const SQLITE_NOT_A_DATABASE = 26;
/** SQLite's extended error code for a read after the end of the file, which was truncated. */
const SQLITE_IOERR_SHORT_READ = 522;

/** Whether the error is caused by a corrupt file and not by the query. */
export function isCorruption(error: unknown): boolean {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  if (typeof code === 'number')
    return code === SQLITE_IOERR_SHORT_READ || [SQLITE_CORRUPT, SQLITE_NOT_A_DATABASE].includes(code & 0xff);
  return error instanceof Error && /malformed|not a database/i.test(error.message);
}

/** Whether the file belongs to this chain and has the current schema version, if needed after an upgrade. */
function isOurs(database: SqliteDatabase, chain: string): boolean {
  const version = database.prepare('PRAGMA user_version').get()!['user_version'];
  if (version !== VERSION && version !== WITHOUT_FORMER_USES) return false;
  if (database.prepare(`SELECT value FROM note WHERE name = 'chain'`).get()?.['value'] !== chain)
    return false;
  if (version === VERSION) return true;
  database.exec('BEGIN');
  database.exec(FORMER_USE);
  database.exec(`PRAGMA user_version = ${VERSION}`);
  database.exec('COMMIT');
  return true;
}

function create(database: SqliteDatabase, chain: string): void {
  database.exec('BEGIN');
  database.exec(TABLES);
  database.prepare(`INSERT INTO note VALUES ('chain', ?)`).run(chain);
  database.exec(`PRAGMA user_version = ${VERSION}`);
  database.exec('COMMIT');
}

function remove(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
}

/** Suffix of the marker file of a database to be quarantined at the next start. */
const MARK = '.is-damaged';

/** Marks the file, so that the next start moves it away. Returns the message for the operator. */
export function markCorrupt(path: string): string {
  try {
    writeFileSync(path + MARK, '');
  } catch {
    // A failure of this step is ignored: if the disk is not writable, the next start reports it.
  }
  return `${path} is corrupt. Start lbcnet again: the file is quarantined and rebuilt from a hub.`;
}

/** Quarantines the file, replacing an earlier quarantined file. Returns the message for the operator. */
function quarantine(path: string): string {
  const aside = `${path}.damaged`;
  rmSync(aside, { recursive: true, force: true });
  if (existsSync(path)) renameSync(path, aside);
  remove(path);
  rmSync(path + MARK, { force: true });
  return (
    `${path} was corrupt and was moved to ${aside}. It is rebuilt from a hub. Wallets are not affected; ` +
    'reserved outputs are available again.'
  );
}

export interface OpenedStore {
  readonly database: SqliteDatabase;
  /** Message for the operator about a corrupt file; null for a valid file. */
  readonly notice: string | null;
}

/**
 * Opens the database of a chain. `chain` identifies the chain, for example by its genesis block. Throws `EnvironmentError`
 * if the file cannot be opened.
 */
export function openStoreFile(provider: SqliteProvider, path: string, chain: string): OpenedStore {
  try {
    return openOrMake(provider, path, chain);
  } catch (error) {
    throw sqliteFileError(error, path);
  }
}

function openOrMake(provider: SqliteProvider, path: string, chain: string): OpenedStore {
  refuseSpecialFile(path);
  let notice = existsSync(path + MARK) ? quarantine(path) : null;
  let database: SqliteDatabase | null = null;
  let isCorrupt = false;
  try {
    database = provider.open(path);
    database.exec(PRAGMAS);
    if (isOurs(database, chain)) return { database, notice };
    const tables = database.prepare('SELECT count(*) AS count FROM sqlite_master').get()!['count'];
    if (tables === 0) {
      create(database, chain);
      return { database, notice };
    }
  } catch (error) {
    isCorrupt = isCorruption(error);
    if (!isCorrupt) {
      database?.close();
      throw error;
    }
  }
  database?.close();
  if (isCorrupt) notice = quarantine(path);
  else remove(path);
  const fresh = provider.open(path);
  fresh.exec(PRAGMAS);
  create(fresh, chain);
  return { database: fresh, notice };
}
