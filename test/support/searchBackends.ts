/**
 * The backends of claim search that tests use. SQLite is always tested. PostgreSQL is tested if `LBCNODE_TEST_POSTGRES` names a
 * server (`postgres://…`, whose user can create schemas). The long tests also test it if its programs are installed: they start
 * a server that ends with their process.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { regtestParams } from '../../src/params/regtest.js';
import { addressPrefixesOf } from '../../src/script/address.js';
import type { CensorLists } from '../../src/search/hits/censor.js';
import type { ClaimDocument } from '../../src/search/document/document.js';
import type { BlockId, BlockScores, IndexWriter } from '../../src/search/follow/indexChange.js';
import { PostgresIndexWriter } from '../../src/search/postgres/postgresIndexWriter.js';
import { PostgresConnection, type PostgresTarget } from '../../src/search/postgres/postgresProvider.js';
import { PostgresReader } from '../../src/search/postgres/postgresReader.js';
import { createIndexTables } from '../../src/search/postgres/postgresSchema.js';
import { PostgresWriter } from '../../src/search/postgres/postgresWriter.js';
import type { BackendPage } from '../../src/search/searchBackend.js';
import type { SearchQuery } from '../../src/search/query/searchQuery.js';
import { SqliteIndexWriter } from '../../src/search/sqlite/sqliteIndexWriter.js';
import { loadSqlite } from '../../src/sqlite/sqliteProvider.js';
import { SqliteReader } from '../../src/search/sqlite/sqliteReader.js';
import { SqliteWriter } from '../../src/search/sqlite/sqliteWriter.js';
import { IS_LONG } from './long.js';

const CHAIN = 'chain';
const prefixes = addressPrefixesOf(regtestParams);

export interface TestReader {
  search(query: SearchQuery, timeoutMs: number): Promise<BackendPage>;
  close(): Promise<void>;
}

/** The first build, from documents of a test. */
export interface DocumentBuild {
  readonly base: BlockId;
  /** Lists in the order of claim ids, each with its last id. */
  readonly documents: readonly (readonly [documents: readonly ClaimDocument[], after: string])[];
  readonly scores: readonly BlockScores[];
}

/** An index of one backend, initially empty. */
export interface TestIndex {
  build(build: DocumentBuild): Promise<void>;
  openWriter(): Promise<IndexWriter>;
  openReader(lists: CensorLists): Promise<TestReader>;
  /** Everything that a search can see, without the numbers that the index assigned. */
  contents(): Promise<Record<string, unknown>>;
  remove(): Promise<void>;
}

export interface SearchBackendOfTests {
  readonly name: string;
  make(): Promise<TestIndex>;
}

type Query = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** Rows with the texts of their labels, in the order of their numbers. */
async function readContents(query: Query) {
  const labels = new Map((await query('SELECT n, text, count FROM label')).map((row) => [row['n'], row]));
  const labeled = new Map<unknown, string[]>();
  for (const { n, id } of await query('SELECT n, id FROM labeled')) {
    labeled.set(id, [...(labeled.get(id) ?? []), labels.get(n)!['text'] as string].sort());
  }
  const rows = await query('SELECT * FROM claim c JOIN words w ON w.id = c.id ORDER BY c.id');
  const [totals] = await query(`SELECT value FROM state WHERE key = 'totals'`);
  const [tip] = await query(`SELECT value FROM state WHERE key = 'tip'`);
  return {
    rows: rows.map((row): Record<string, unknown> => ({ ...row, labels: labeled.get(row['id']) ?? [] })),
    labels: [...labels.values()]
      .filter((row) => row['count'] !== 0)
      .map((row) => `${row['text'] as string} ${row['count'] as number}`)
      .sort(),
    totals: JSON.parse(totals!['value'] as string) as unknown,
    tip: tip && (JSON.parse(tip['value'] as string) as unknown),
  };
}

/** Implements `TestIndex.contents` for a file of SQLite. */
export async function sqliteContents(path: string): Promise<Record<string, unknown>> {
  const database = (await loadSqlite()).open(path);
  try {
    const query: Query = async (sql) => database.prepare(sql).all();
    const words = await query(`SELECT rowid FROM text_index WHERE text_index MATCH 'bitcoin'`);
    return { ...(await readContents(query)), words };
  } finally {
    database.close();
  }
}

const sqlite: SearchBackendOfTests = {
  name: 'SQLite',
  async make() {
    const provider = await loadSqlite();
    const folder = mkdtempSync(join(tmpdir(), 'lbcnode-search-'));
    const path = join(folder, 'search.sqlite');
    return {
      async build({ base, documents, scores }) {
        const writer = SqliteWriter.open(provider, path, CHAIN);
        writer.startBuild(base);
        for (const [part, after] of documents) writer.addDocuments(part, [], after);
        writer.endDocuments();
        writer.addScores(scores);
        writer.endBuild();
        writer.close();
      },
      openWriter: async () => new SqliteIndexWriter(provider, { path, chain: CHAIN, prefixes }),
      async openReader(lists) {
        const reader = new SqliteReader(provider, path, lists);
        return {
          search: async (query, timeoutMs) => reader.search(query, timeoutMs),
          close: async () => reader.close(),
        };
      },
      contents: () => sqliteContents(path),
      remove: async () => rmSync(folder, { recursive: true }),
    };
  },
};

/** The folder of PostgreSQL's programs; the newest if there are several, null if there is none. */
function findPrograms(): string | null {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  return (
    folders.find((folder) => ['initdb', 'postgres'].every((name) => existsSync(join(folder, name)))) ?? null
  );
}

/** Starts a server that ends with this process. */
function startServer(programs: string): Promise<string> {
  const script = fileURLToPath(new URL('postgresServer.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, programs], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.unref();
  (child.stdin as unknown as { unref(): void }).unref();
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (!output.includes('\n')) return;
      (child.stdout as unknown as { unref(): void }).unref();
      const { host, port, user, password } = JSON.parse(output) as Record<string, string>;
      resolve(`postgres://${user}:${password}@${host}:${port}/postgres`);
    });
    child.once('exit', () => reject(new Error('no PostgreSQL server could be started')));
  });
}

const programs = findPrograms();
let started: Promise<string> | undefined;

/** The address of a server for tests. If there is none, prints a line and resolves to null. */
export function postgresUrl(): Promise<string> | null {
  const named = process.env['LBCNODE_TEST_POSTGRES'];
  if (named !== undefined && named !== '') return Promise.resolve(named);
  if (!IS_LONG) return null;
  if (programs !== null) return (started ??= startServer(programs));
  console.log(
    'skipped: there is no PostgreSQL (LBCNODE_TEST_POSTGRES=postgres://…, or its programs installed)',
  );
  return null;
}

let schemas = 0;

/** A schema that no other test uses. */
export async function newPostgresTarget(): Promise<PostgresTarget & { remove(): Promise<void> }> {
  const target = { url: await postgresUrl()!, schema: `lbcnode_test_${process.pid}_${schemas++}` };
  return {
    ...target,
    async remove() {
      const connection = await PostgresConnection.open(target, 'writer');
      await connection.query(`DROP SCHEMA IF EXISTS ${target.schema} CASCADE`);
      await connection.close();
    },
  };
}

const postgres: SearchBackendOfTests = {
  name: 'PostgreSQL',
  async make() {
    const target = await newPostgresTarget();
    const withConnection = async <T>(use: (connection: PostgresConnection) => Promise<T>): Promise<T> => {
      const connection = await PostgresConnection.open(target, 'writer');
      try {
        return await use(connection);
      } finally {
        await connection.close();
      }
    };
    return {
      build: ({ base, documents, scores }) =>
        withConnection(async (connection) => {
          await createIndexTables(connection, CHAIN);
          await (await PostgresWriter.on(connection)).startBuild(base);
          const writer = await PostgresWriter.on(connection);
          for (const [part, after] of documents) await writer.addDocuments(part, [], after);
          await writer.endDocuments();
          await writer.addScores(scores);
          await writer.endBuild();
        }),
      async openWriter() {
        const writer = new PostgresIndexWriter({ ...target, chain: CHAIN, prefixes });
        await writer.state();
        return writer;
      },
      openReader: async (lists) => new PostgresReader({ ...target, chain: CHAIN, lists }),
      contents: () =>
        withConnection(async (connection) => {
          const query: Query = (sql) => connection.query(sql);
          const words = await query('SELECT word, count FROM word ORDER BY word');
          return { ...(await readContents(query)), words };
        }),
      remove: () => target.remove(),
    };
  },
};

export const searchBackends: readonly SearchBackendOfTests[] =
  postgresUrl() === null ? [sqlite] : [sqlite, postgres];
