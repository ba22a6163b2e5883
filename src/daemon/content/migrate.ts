/**
 * Migrates a database of an older release of lbrynet to revision 15 in one transaction, after a copy of it is made. A
 * failure or a kill leaves the old database unchanged. The file itself is changed and not replaced, because SQLite may still
 * have it open. Source: lbry-sdk lbry/extras/daemon/migrator/migrate6to7.py to migrate14to15.py.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { SqliteDatabase, SqliteProvider, SqlRow } from '../../sqlite/sqliteProvider.js';
import { EnvironmentError, failureReason } from '../../util/text/environmentError.js';
import { rebuiltDescriptor, type DescriptorBlob } from './descriptor.js';
import { CREATE_TABLES, REVISION, TABLES } from './tables.js';

/** Oldest revision that can be migrated. Older revisions consist of several files of other formats. */
const OLDEST_REVISION = 6;

export interface MigrationPaths {
  readonly database: string;
  /** Path of the folder `blobfiles`. */
  readonly blobs: string;
}

type Columns = ReadonlyMap<string, ReadonlySet<string>>;

/** The columns of the tables, whose names begin with `prefix`. */
const columnsOf = (database: SqliteDatabase, prefix = ''): Columns =>
  new Map(
    TABLES.map(([name]) => {
      const rows = database.prepare(`pragma table_info('${prefix}${name}')`).all();
      return [name, new Set(rows.map((row) => String(row['name'])))];
    }),
  );

/** Columns that each revision added to a table, the newest first. */
const ADDED: readonly (readonly [revision: number, table: string, column: string])[] = [
  [15, 'blob', 'is_mine'],
  [14, 'peer', 'node_id'],
  [13, 'file', 'bt_infohash'],
  [12, 'file', 'added_on'],
  [11, 'file', 'saved_file'],
  [8, 'reflected_stream', 'sd_hash'],
  [7, 'blob', 'last_announced_time'],
  [6, 'blob', 'blob_hash'],
];

/** Determines the revision of an open database by its tables. Null if the tables are unknown. */
export function revisionOfTables(database: SqliteDatabase): number | null {
  const columns = columnsOf(database);
  return ADDED.find(([, table, column]) => columns.get(table)!.has(column))?.[0] ?? null;
}

/** Throws `EnvironmentError` if databases of this revision cannot be migrated. */
export function checkRevision(revision: number, dataDir: string): void {
  if (revision > REVISION)
    throw new EnvironmentError(
      `This version of lbrynet is not compatible with the database\nYour database is revision ${revision}, expected ${REVISION}`,
    );
  if (revision < OLDEST_REVISION)
    throw new EnvironmentError(
      `The database in ${dataDir} has revision ${revision}, which lbcnet cannot read. Start lbrynet ` +
        `0.113.0 once with this folder, which upgrades it to revision ${REVISION}; or move the folder away ` +
        'and start with an empty one.',
    );
}

/** SQL default values of columns that an older revision does not have. */
const DEFAULTS: Readonly<Record<string, string>> = {
  'blob.last_announced_time': 'NULL',
  'blob.single_announce': 'NULL',
  'blob.added_on': '0',
  // All existing blobs become own blobs, so that the cleaning deletes none of them.
  'blob.is_mine': '1',
  'file.bt_infohash': 'NULL',
  'file.saved_file': '0',
  'file.content_fee': 'NULL',
  'content_claim.bt_infohash': 'NULL',
};

const COLUMN_NAME = /^(?!primary key|unique)\w+/;

/** Copies a table with its row numbers, because programs use them as numbers of files. */
function copyTable(
  database: SqliteDatabase,
  [table, forms]: (typeof TABLES)[number],
  old: Columns,
  nowSec: number,
): void {
  const known = old.get(table)!;
  if (known.size === 0) return;
  const names = forms.flatMap((form) => COLUMN_NAME.exec(form)?.[0] ?? []);
  const values = names.map((name) => {
    if (known.has(name)) return name;
    return table === 'file' && name === 'added_on' ? String(nowSec) : DEFAULTS[`${table}.${name}`]!;
  });
  const verb = table === 'content_claim' ? 'insert or ignore' : 'insert';
  database.exec(
    `${verb} into ${table} (rowid, ${names.join(', ')}) select rowid, ${values.join(', ')} from old_${table}`,
  );
}

const textOfHex = (hex: unknown): string => Buffer.from(String(hex), 'hex').toString('utf8');

function entriesOf(database: SqliteDatabase, streamHash: unknown): DescriptorBlob[] {
  const rows = database
    .prepare(
      `select s.blob_hash, s.position, s.iv, b.blob_length from stream_blob s left join blob b using (blob_hash)
       where s.stream_hash = ? order by s.position`,
    )
    .all(streamHash as string);
  return rows.map((row) => ({
    blobHash: row['blob_hash'] as string | null,
    blobNum: Number(row['position']),
    iv: String(row['iv']),
    length: Number(row['blob_length'] ?? 0),
  }));
}

/**
 * Drops streams whose descriptor is neither in its file nor can be rebuilt in any field order: they can never be read.
 * QUIRK (not copied): lbry-sdk encodes the names twice in this step, finds no stream valid, and deletes all of them with
 * their blobs.
 */
function dropUnreadableStreams(database: SqliteDatabase, blobs: string): void {
  for (const stream of database.prepare('select * from stream').all() as SqlRow[]) {
    const { stream_hash: streamHash, sd_hash: sdHash } = stream;
    if (existsSync(join(blobs, String(sdHash)))) continue;
    const descriptor = {
      streamName: textOfHex(stream['stream_name']),
      key: String(stream['stream_key']),
      suggestedFileName: textOfHex(stream['suggested_filename']),
      streamHash: String(streamHash),
      blobs: entriesOf(database, streamHash),
    };
    if (rebuiltDescriptor(descriptor, String(sdHash)) !== null) continue;
    for (const table of ['content_claim', 'file', 'stream_blob', 'stream'])
      database.prepare(`delete from ${table} where stream_hash = ?`).run(streamHash as string);
  }
}

function isSaved(folder: unknown, name: unknown): boolean {
  if (typeof folder !== 'string' || typeof name !== 'string') return false;
  return statSync(join(textOfHex(folder), textOfHex(name)), { throwIfNoEntry: false })?.isFile() ?? false;
}

/**
 * Until revision 10 the row of a file did not record whether the file was saved. The name `{stream}` meant a file without a
 * name.
 */
function noteSavedFiles(database: SqliteDatabase): void {
  const saved = database.prepare('update file set saved_file = 1 where rowid = ?');
  const unsaved = database.prepare(
    'update file set file_name = NULL, download_directory = NULL where rowid = ?',
  );
  for (const row of database.prepare('select rowid as id, file_name, download_directory from file').all())
    (isSaved(row['download_directory'], row['file_name']) ? saved : unsaved).run(row['id']!);
}

/**
 * Gives tables their names back that lbrynet had copied and dropped when it was killed. Source: lbry-sdk migrate12to13.py,
 * whose statements are not in one transaction.
 */
function renameLeftOver(database: SqliteDatabase): void {
  const [columns, leftOver] = [columnsOf(database), columnsOf(database, 'new_')];
  for (const [name] of TABLES)
    if (columns.get(name)!.size === 0 && leftOver.get(name)!.size > 0)
      database.exec(`alter table new_${name} rename to ${name}`);
}

function convert(
  database: SqliteDatabase,
  revision: number,
  { blobs }: MigrationPaths,
  nowSec: number,
): void {
  renameLeftOver(database);
  const old = columnsOf(database);
  const present = TABLES.filter(([name]) => old.get(name)!.size > 0);
  for (const [name] of present) database.exec(`alter table ${name} rename to old_${name}`);
  database.exec(CREATE_TABLES);
  for (const table of TABLES) copyTable(database, table, old, nowSec);
  for (const [name] of present) database.exec(`drop table old_${name}`);
  if (revision < 7) database.exec('update blob set next_announce_time = 0');
  if (revision < 9) dropUnreadableStreams(database, blobs);
  if (revision < 10)
    database.exec(
      `update blob set should_announce = 1 where blob_hash in (select sd_hash from stream)
       or blob_hash in (select blob_hash from stream_blob where position = 0)`,
    );
  if (revision < 11) noteSavedFiles(database);
}

function syncPath(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

const COMPARED_BYTES = 1024 * 1024;

function haveSameBytes(path: string, other: string): boolean {
  if (statSync(path).size !== statSync(other).size) return false;
  const files = [openSync(path, 'r'), openSync(other, 'r')] as const;
  try {
    const [piece, otherPiece] = [Buffer.alloc(COMPARED_BYTES), Buffer.alloc(COMPARED_BYTES)];
    for (;;) {
      const length = readSync(files[0], piece);
      readSync(files[1], otherPiece, 0, length, null);
      if (length === 0) return true;
      if (!piece.subarray(0, length).equals(otherPiece.subarray(0, length))) return false;
    }
  } finally {
    files.forEach(closeSync);
  }
}

/**
 * Copies the old database to a free name in the same folder. Returns the name. The copy has this name only when it is
 * complete and on disk. If the start was killed after the copy, the next start finds the copy and makes no second one.
 */
function keepOld(path: string, revision: number): string {
  for (let n = 0; ; n++) {
    const copy = join(dirname(path), `rev_${revision}_database${n === 0 ? '' : `_${n}`}.sqlite`);
    if (existsSync(copy)) {
      if (haveSameBytes(copy, path)) return copy;
      continue;
    }
    const temporary = `${path}.copying`;
    try {
      copyFileSync(path, temporary);
      syncPath(temporary);
      renameSync(temporary, copy);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    // Windows cannot sync a folder.
    if (process.platform !== 'win32') syncPath(dirname(path));
    return copy;
  }
}

/**
 * Migrates a closed database. Copies the file before the migration and returns the path of the copy. If a step fails, throws
 * `EnvironmentError` and leaves the database unchanged.
 */
export function migrateDatabase(
  provider: SqliteProvider,
  revision: number,
  paths: MigrationPaths,
  nowSec: number,
): string {
  const { database: path } = paths;
  const database = provider.open(path);
  let copy: string | null = null;
  try {
    // Moves the write-ahead log into the database file, because the copy contains only this file.
    database.exec('pragma wal_checkpoint(truncate)');
    copy = keepOld(path, revision);
    database.exec('pragma synchronous = full; pragma foreign_keys = off; pragma legacy_alter_table = on');
    database.exec('begin immediate');
    convert(database, revision, paths, nowSec);
    database.exec('commit');
    return copy;
  } catch (error) {
    // When the database closes, SQLite rolls the transaction back, so the copy is not needed.
    if (copy !== null) rmSync(copy, { force: true });
    throw new EnvironmentError(
      `${path} could not be upgraded from revision ${revision} to ${REVISION}: ${failureReason(error)}. It ` +
        'was not changed. Free disk space or restore a backup, and start again.',
      { cause: error },
    );
  } finally {
    try {
      database.exec('rollback');
    } catch {
      // If no transaction is open, the rollback fails and nothing is to be undone.
    }
    database.close();
  }
}
