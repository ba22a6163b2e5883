/**
 * Selects the SQLite implementation: Node's own module if it supports FTS5 (Node 22.13 and later), else the package
 * `@photostructure/sqlite`, which has the same API and binaries for most machines. No other module selects an
 * implementation.
 */
import { createRequire, isBuiltin } from 'node:module';
import { EnvironmentError } from '../util/text/environmentError.js';

export type SqlValue = null | number | bigint | string | Uint8Array;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface SqliteStatement {
  run(...values: SqlValue[]): {
    readonly changes: number | bigint;
    readonly lastInsertRowid: number | bigint;
  };
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
}

export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  /** Registers a function for use in SQL. If the function throws, the statement fails. */
  function(name: string, run: (...values: SqlValue[]) => SqlValue): void;
  close(): void;
}

export interface SqliteProvider {
  readonly name: string;
  /** Version of the SQLite library. */
  readonly version: string;
  open(path: string): SqliteDatabase;
}

interface SqliteModule {
  readonly DatabaseSync: new (path: string) => SqliteDatabase;
}

/**
 * SQL statement that tests whether SQLite supports the needed full-text tables: FTS5 with deletion from contentless tables
 * (SQLite 3.43).
 */
const PROBE = `CREATE VIRTUAL TABLE probe USING fts5(words, content='', contentless_delete=1, detail=none)`;

const PACKAGE = '@photostructure/sqlite';

/**
 * Imports Node's own SQLite module, and suppresses the warning that this module is experimental. Throws if Node has no such
 * module.
 */
async function importBuiltIn(): Promise<SqliteModule> {
  const emitWarning = process.emitWarning;
  const name: string = 'node:sqlite';
  process.emitWarning = () => undefined;
  try {
    return (await import(name)) as SqliteModule;
  } finally {
    process.emitWarning = emitWarning;
  }
}

async function importPackage(): Promise<SqliteModule> {
  return (await import('@photostructure/sqlite')) as unknown as SqliteModule;
}

function probe(name: string, { DatabaseSync }: SqliteModule): SqliteProvider {
  const database = new DatabaseSync(':memory:');
  try {
    database.exec(PROBE);
    const version = database.prepare('SELECT sqlite_version() AS version').get()!['version'];
    return { name, version: String(version), open: (path) => new DatabaseSync(path) };
  } finally {
    database.close();
  }
}

interface Source {
  readonly name: string;
  load(): Promise<SqliteModule>;
}

const SOURCES: readonly Source[] = [
  { name: 'node:sqlite', load: importBuiltIn },
  { name: PACKAGE, load: importPackage },
];

/** Error codes of a missing module. For a module that exists but fails the codes differ. Source: Node's errors. */
const ABSENT: ReadonlySet<unknown> = new Set([
  'ERR_UNKNOWN_BUILTIN_MODULE',
  'ERR_MODULE_NOT_FOUND',
  'MODULE_NOT_FOUND',
]);

/** Returns the first usable implementation. Throws an `EnvironmentError` with a one-line message that begins with `neededBy`. */
export async function findSqlite(
  neededBy: string,
  sources: readonly Source[] = SOURCES,
): Promise<SqliteProvider> {
  const failures: string[] = [];
  for (const { name, load } of sources) {
    try {
      return probe(name, await load());
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (!ABSENT.has(code)) failures.push(` (${name}: ${message.split('\n')[0]})`);
    }
  }
  throw new EnvironmentError(
    `${neededBy} needs SQLite, which neither Node ${process.versions.node} nor lbcnode contains for this ` +
      `machine: use Node 22.13 or later${failures.join('')}`,
  );
}

let found: Promise<SqliteProvider> | undefined;

/**
 * Loads SQLite, once per process. `neededBy` is the option or command that needs it, for the error message. Throws an
 * `EnvironmentError` with advice if no implementation is usable.
 */
export function loadSqlite(neededBy = 'This'): Promise<SqliteProvider> {
  found ??= findSqlite(neededBy);
  return found;
}

/** Whether SQLite is available, either in Node or as a package. SQLite is not loaded. */
export function hasSqlite(): boolean {
  if (isBuiltin('node:sqlite')) return true;
  try {
    createRequire(import.meta.url).resolve(PACKAGE);
    return true;
  } catch {
    return false;
  }
}
