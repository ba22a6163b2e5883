/**
 * Opens `lbrynet.sqlite` and `lbcnet.sqlite` of a data folder. A database that cannot be used ends the start with an error.
 * Only a corrupt database is quarantined and replaced by an empty one. No database is ever deleted. Source: lbry-sdk
 * lbry/extras/daemon/components.py `DatabaseComponent.start`.
 */
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteFileError } from '../../sqlite/sqliteFileError.js';
import type { SqliteDatabase, SqliteProvider } from '../../sqlite/sqliteProvider.js';
import { EnvironmentError, onFile } from '../../util/text/environmentError.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
import { checkRevision, migrateDatabase, revisionOfTables } from './migrate.js';
import { CREATE_OWN_TABLES, CREATE_TABLES, OWN_VERSION, REVISION } from './tables.js';

export const DATABASE_NAME = 'lbrynet.sqlite';
const OWN_DATABASE_NAME = 'lbcnet.sqlite';
export const BLOB_FOLDER_NAME = 'blobfiles';
const REVISION_NAME = 'db_revision';
/** Suffix of a marker file: corruption was found, so the whole database is checked at the start. */
const CHECK_SUFFIX = '.check';
/**
 * Maximum size in bytes of a database that is checked completely at each start. Arbitrary: the check takes some tens of
 * milliseconds.
 */
const SMALL_BYTES = 16 * 1024 * 1024;

/** Pragmas with which every acknowledged write is on disk, also after a power failure. */
const PRAGMAS = 'pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;';

export interface OpenedDatabases {
  readonly main: SqliteDatabase;
  readonly own: SqliteDatabase;
  /** Message for the operator about a migration; null if there was no migration. */
  readonly notice: string | null;
}

/** Revision number in the file `db_revision`; null if the file is missing. */
function readRevision(path: string): number | null {
  refuseSpecialFile(path);
  if (!existsSync(path)) return null;
  const text = readFileSync(path, 'utf8').trim();
  if (!/^[0-9]{1,6}$/.test(text))
    throw new EnvironmentError(
      `${path}: it contains no database revision. Remove it: lbcnet then determines the revision from the tables.`,
    );
  return Number(text);
}

function writeRevision(path: string): void {
  const temporary = `${path}.tmp`;
  writeFileSync(temporary, String(REVISION), { flush: true });
  renameSync(temporary, path);
}

/** Whether the database is not a database or contradicts itself. Source: SQLite sqlite3.h, SQLITE_CORRUPT and SQLITE_NOTADB. */
function isCorruption(error: unknown): boolean {
  const { message = '', errcode } = error as { message?: string; errcode?: number };
  if (typeof errcode === 'number' && [11, 26].includes(errcode & 0xff)) return true;
  return /malformed|not a database/i.test(message);
}

/**
 * Converts an error about corruption of the main database to an `EnvironmentError`, and requests a check of the whole
 * database at the next start.
 */
export function mainDatabaseError(error: unknown, path: string): unknown {
  if (!isCorruption(error)) return sqliteFileError(error, path);
  try {
    writeFileSync(path + CHECK_SUFFIX, '', { flush: true });
  } catch {
    // Without the marker file, only a small database is checked at the start.
  }
  return new EnvironmentError(
    `${path} is corrupt (${(error as Error).message}). Stop lbcnet and start it again: it then ` +
      'quarantines the database and rebuilds the library from blobfiles and the hub. Or restore a backup.',
    { cause: error },
  );
}

function ownDatabaseError(error: unknown, path: string): unknown {
  if (!isCorruption(error)) return sqliteFileError(error, path);
  return new EnvironmentError(
    `${path} is corrupt (${(error as Error).message}). It was not changed. Restore a backup; or move the ` +
      'file away: pins, marks and the paths of published files without stored blobs are then lost, but no ' +
      'blob.',
    { cause: error },
  );
}

function open(provider: SqliteProvider, path: string): SqliteDatabase {
  refuseSpecialFile(path);
  const database = provider.open(path);
  try {
    database.exec(PRAGMAS);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Determines the revision of the database from its tables and from the file `db_revision`. A kill between a migration and
 * the write of that file leaves a number that is too low; then the tables decide.
 */
function revisionOf(provider: SqliteProvider, path: string, noted: number | null): number | null {
  if (!existsSync(path)) return null;
  const database = open(provider, path);
  try {
    const shown = revisionOfTables(database);
    if (shown === null) return noted;
    // The tables of revisions 8 to 10 are equal, so the file decides between them.
    return noted === null ? shown : Math.max(noted, shown);
  } finally {
    database.close();
  }
}

/** Runs SQLite's integrity check. Throws its message if the check fails. */
function assertWhole(database: SqliteDatabase, path: string): void {
  const note = path + CHECK_SUFFIX;
  if (!existsSync(note) && statSync(path).size > SMALL_BYTES) return;
  const [found] = Object.values(database.prepare('pragma quick_check(1)').get()!);
  if (found !== 'ok') throw new Error(`database disk image is malformed: ${String(found)}`);
  rmSync(note, { force: true });
}

/** Renames a corrupt database and its log files. Returns the new path. */
function quarantine(path: string): string {
  let aside = `${path}.damaged`;
  for (let number = 1; existsSync(aside); number++) aside = `${path}.damaged.${number}`;
  for (const suffix of ['-wal', '-shm', ''])
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  rmSync(path + CHECK_SUFFIX, { force: true });
  return aside;
}

/**
 * Opens the main database. A corrupt one of the current revision is quarantined and replaced with an empty one; the library
 * is rebuilt from the blobs. A corrupt database of an older revision is not replaced: the operator gets the error, because
 * the copy for the migration may be the corrupt file.
 */
function openOrReplaceMain(
  provider: SqliteProvider,
  dataDir: string,
  nowSec: number,
): [SqliteDatabase, string | null] {
  const path = join(dataDir, DATABASE_NAME);
  try {
    return openMain(provider, dataDir, nowSec);
  } catch (error) {
    const noted = readRevision(join(dataDir, REVISION_NAME));
    if (!isCorruption(error) || (noted !== null && noted !== REVISION)) throw error;
    const aside = onFile(path, () => quarantine(path));
    const [database] = openMain(provider, dataDir, nowSec);
    const reason = (error as Error).message;
    return [
      database,
      `${path} was corrupt (${reason}). It was moved to ${aside}. The library is rebuilt from the blobs and the hub.`,
    ];
  }
}

function openMain(
  provider: SqliteProvider,
  dataDir: string,
  nowSec: number,
): [SqliteDatabase, string | null] {
  const path = join(dataDir, DATABASE_NAME);
  const revisionPath = join(dataDir, REVISION_NAME);
  const noted = onFile(revisionPath, () => readRevision(revisionPath));
  if (noted !== null) checkRevision(noted, dataDir);
  const revision = revisionOf(provider, path, noted) ?? REVISION;
  checkRevision(revision, dataDir);
  let notice: string | null = null;
  if (revision < REVISION) {
    const blobs = join(dataDir, BLOB_FOLDER_NAME);
    const copy = migrateDatabase(provider, revision, { database: path, blobs }, nowSec);
    notice = `${path} was upgraded from revision ${revision} to ${REVISION}; the old file is ${copy}.`;
  }
  const database = open(provider, path);
  try {
    database.exec(CREATE_TABLES);
    assertWhole(database, path);
    if (noted !== REVISION) onFile(revisionPath, () => writeRevision(revisionPath));
    return [database, notice];
  } catch (error) {
    database.close();
    throw error;
  }
}

function openOwn(provider: SqliteProvider, dataDir: string): SqliteDatabase {
  const path = join(dataDir, OWN_DATABASE_NAME);
  let database: SqliteDatabase | null = null;
  try {
    database = open(provider, path);
    const version = Number(database.prepare('pragma user_version').get()!['user_version']);
    if (version > OWN_VERSION)
      throw new EnvironmentError(
        `${path} was written by a newer lbcnet. Use that version, or move the file away: pins and marks are ` +
          'then lost, but no blob.',
      );
    if (version < OWN_VERSION)
      database.exec(`begin; ${CREATE_OWN_TABLES}; pragma user_version = ${OWN_VERSION}; commit`);
    return database;
  } catch (error) {
    database?.close();
    throw ownDatabaseError(error, path);
  }
}

/** Opens the databases in the folder. Throws `EnvironmentError` if a file cannot be used. */
export function openDatabases(provider: SqliteProvider, dataDir: string, nowSec: number): OpenedDatabases {
  let opened: [SqliteDatabase, string | null];
  try {
    opened = openOrReplaceMain(provider, dataDir, nowSec);
  } catch (error) {
    throw mainDatabaseError(error, join(dataDir, DATABASE_NAME));
  }
  const [main, notice] = opened;
  try {
    return { main, own: openOwn(provider, dataDir), notice };
  } catch (error) {
    main.close();
    throw error;
  }
}
