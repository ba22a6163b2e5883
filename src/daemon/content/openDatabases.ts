/**
 * Opens `lbrynet.sqlite` and `lbcnet.sqlite` of a data folder. A database that cannot be used ends the start with an error;
 * an empty one never takes its place. Source: lbry-sdk lbry/extras/daemon/components.py `DatabaseComponent.start`.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteFileError } from '../../sqlite/sqliteFileError.js';
import type { SqliteDatabase, SqliteProvider } from '../../sqlite/sqliteProvider.js';
import { EnvironmentError, onFile } from '../../util/environmentError.js';
import { refuseSpecialFile } from '../../util/specialFile.js';
import { checkRevision, migrateDatabase, revisionOfTables } from './migrate.js';
import { CREATE_OWN_TABLES, CREATE_TABLES, OWN_VERSION, REVISION } from './tables.js';

export const DATABASE_NAME = 'lbrynet.sqlite';
export const OWN_DATABASE_NAME = 'lbcnet.sqlite';
export const BLOB_FOLDER_NAME = 'blobfiles';
const REVISION_NAME = 'db_revision';

/** Every acknowledged write is on disk, also after a power failure. */
const PRAGMAS = 'pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;';

export interface OpenedDatabases {
  readonly main: SqliteDatabase;
  readonly own: SqliteDatabase;
  /** What the operator is to know of a migration; null without one. */
  readonly notice: string | null;
}

/** What the file `db_revision` says; null where it is missing. */
function readRevision(path: string): number | null {
  refuseSpecialFile(path);
  if (!existsSync(path)) return null;
  const text = readFileSync(path, 'utf8').trim();
  if (!/^[0-9]{1,6}$/.test(text))
    throw new EnvironmentError(
      `${path}: it holds no revision of a database. Remove it: lbcnet then finds the revision from the tables.`,
    );
  return Number(text);
}

function writeRevision(path: string): void {
  const temporary = `${path}.tmp`;
  writeFileSync(temporary, String(REVISION), { flush: true });
  renameSync(temporary, path);
}

/** Throws an `EnvironmentError` when the file is not a database, or is damaged. */
export function databaseError(error: unknown, path: string): unknown {
  const { message = '', errcode } = error as { message?: string; errcode?: number };
  const isDamage = typeof errcode === 'number' && [11, 26].includes(errcode & 0xff);
  if (!isDamage && !/malformed|not a database/i.test(message)) return sqliteFileError(error, path);
  return new EnvironmentError(
    `${path} is damaged (${message}). It is left as it is. Put a backup in its place; or move it away, then lbcnet begins ` +
      'with an empty one and finds the blobs in blobfiles again.',
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

/** The revision by the tables, which counts where the file says less: a kill may come between a migration and its note. */
function revisionOf(provider: SqliteProvider, path: string, noted: number | null): number | null {
  if (!existsSync(path)) return null;
  const database = open(provider, path);
  try {
    const shown = revisionOfTables(database);
    if (shown === null) return noted;
    // Revisions 8 to 10 have the same tables.
    return noted === null ? shown : Math.max(noted, shown);
  } finally {
    database.close();
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
    notice = `${path} was brought from revision ${revision} to ${REVISION}; the old one lies at ${copy}.`;
  }
  const database = open(provider, path);
  try {
    database.exec(CREATE_TABLES);
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
        `${path} was written by a newer lbcnet. Use that one, or move the file away: pins and marks are then lost, and no blob.`,
      );
    if (version < OWN_VERSION)
      database.exec(`begin; ${CREATE_OWN_TABLES}; pragma user_version = ${OWN_VERSION}; commit`);
    return database;
  } catch (error) {
    database?.close();
    throw databaseError(error, path);
  }
}

/** Throws `EnvironmentError` where a file cannot be used. */
export function openDatabases(provider: SqliteProvider, dataDir: string, nowSec: number): OpenedDatabases {
  let opened: [SqliteDatabase, string | null];
  try {
    opened = openMain(provider, dataDir, nowSec);
  } catch (error) {
    throw databaseError(error, join(dataDir, DATABASE_NAME));
  }
  const [main, notice] = opened;
  try {
    return { main, own: openOwn(provider, dataDir), notice };
  } catch (error) {
    main.close();
    throw error;
  }
}
