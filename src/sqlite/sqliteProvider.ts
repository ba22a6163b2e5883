/**
 * The one place that knows where SQLite comes from: Node's own where it has FTS5 (22.13 and up), else the package
 * `@photostructure/sqlite`, which has the same calls and brings binaries for most machines.
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
  /** Makes a function for use in SQL; what it throws ends the statement. */
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

/** Whether the index's kind of full text table can be made: FTS5 with deletion from tables without content (SQLite 3.43). */
const PROBE = `CREATE VIRTUAL TABLE probe USING fts5(words, content='', contentless_delete=1, detail=none)`;

const PACKAGE = '@photostructure/sqlite';

/** Node's own module, without the warning that it is experimental. Throws where there is none. */
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

/** Error codes of a module that is not there, as opposed to one that fails. Source: Node's errors. */
const ABSENT: ReadonlySet<unknown> = new Set([
  'ERR_UNKNOWN_BUILTIN_MODULE',
  'ERR_MODULE_NOT_FOUND',
  'MODULE_NOT_FOUND',
]);

/** The first source that can be used. Throws an `EnvironmentError` of one line that begins with `neededBy`. */
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
 * The provider of this process. `neededBy` is what the user typed that needs it. Throws `EnvironmentError`, which says what
 * helps, when there is none.
 */
export function loadSqlite(neededBy = 'This'): Promise<SqliteProvider> {
  found ??= findSqlite(neededBy);
  return found;
}

/** Whether there is SQLite, of Node or of a package, without loading it. */
export function hasSqlite(): boolean {
  if (isBuiltin('node:sqlite')) return true;
  try {
    createRequire(import.meta.url).resolve(PACKAGE);
    return true;
  } catch {
    return false;
  }
}
