/**
 * The only module that chooses the SQLite implementation: Node's own if it has FTS5 (22.13 and later), else the package
 * `@photostructure/sqlite`, which has the same API and binaries for most machines.
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
  /** Registers a function for use in SQL; an error that it throws ends the statement. */
  function(name: string, run: (...values: SqlValue[]) => SqlValue): void;
  close(): void;
}

export interface SqliteProvider {
  readonly name: string;
  /** The version of SQLite itself. */
  readonly version: string;
  open(path: string): SqliteDatabase;
}

interface SqliteModule {
  readonly DatabaseSync: new (path: string) => SqliteDatabase;
}

/**
 * Statement that tests for the required kind of full text table: FTS5 with deletion from tables without content (SQLite
 * 3.43).
 */
const PROBE = `CREATE VIRTUAL TABLE probe USING fts5(words, content='', contentless_delete=1, detail=none)`;

const PACKAGE = '@photostructure/sqlite';

/** Node's own module, without the warning that it is experimental. Throws if it does not exist. */
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

/** Error codes of a missing module, as opposed to one that fails. Source: Node's errors. */
const ABSENT: ReadonlySet<unknown> = new Set([
  'ERR_UNKNOWN_BUILTIN_MODULE',
  'ERR_MODULE_NOT_FOUND',
  'MODULE_NOT_FOUND',
]);

/** The first usable implementation. Throws an `EnvironmentError` with a one-line message that begins with `neededBy`. */
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
    `${neededBy} needs SQLite, which neither Node ${process.versions.node} nor lbcnode brings for this machine: use Node ` +
      `22.13 or later${failures.join('')}`,
  );
}

let found: Promise<SqliteProvider> | undefined;

/**
 * The implementation for this process. `neededBy` is the user's option or command that needs it. Throws `EnvironmentError`
 * with the remedy if there is none.
 */
export function loadSqlite(neededBy = 'This'): Promise<SqliteProvider> {
  found ??= findSqlite(neededBy);
  return found;
}

/** Whether SQLite is available, from Node or a package; does not load it. */
export function hasSqlite(): boolean {
  if (isBuiltin('node:sqlite')) return true;
  try {
    createRequire(import.meta.url).resolve(PACKAGE);
    return true;
  } catch {
    return false;
  }
}
