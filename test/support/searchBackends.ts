/**
 * The backends of claim search that tests run on. SQLite needs nothing; another one joins where `LBCNODE_TEST_POSTGRES` names
 * its server.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { regtestParams } from '../../src/params/regtest.js';
import { addressPrefixesOf } from '../../src/script/address.js';
import type { CensorLists } from '../../src/search/censor.js';
import type { IndexWriter } from '../../src/search/indexChange.js';
import type { BackendPage } from '../../src/search/searchBackend.js';
import type { SearchQuery } from '../../src/search/searchQuery.js';
import { SqliteIndexWriter } from '../../src/search/sqliteIndexWriter.js';
import { loadSqlite } from '../../src/search/sqliteProvider.js';
import { SqliteReader } from '../../src/search/sqliteReader.js';

const CHAIN = 'chain';
const prefixes = addressPrefixesOf(regtestParams);

export interface TestReader {
  search(query: SearchQuery, timeoutMs: number): Promise<BackendPage>;
  close(): Promise<void>;
}

/** An index of one backend, empty when it is made. */
export interface TestIndex {
  openWriter(): Promise<IndexWriter>;
  openReader(lists: CensorLists): Promise<TestReader>;
  /** All that a search can see, whatever numbers the index gave. */
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

const sqlite: SearchBackendOfTests = {
  name: 'SQLite',
  async make() {
    const provider = await loadSqlite();
    const folder = mkdtempSync(join(tmpdir(), 'lbcnode-search-'));
    const path = join(folder, 'search.sqlite');
    return {
      openWriter: async () => new SqliteIndexWriter(provider, { path, chain: CHAIN, prefixes }),
      async openReader(lists) {
        const reader = new SqliteReader(provider, path, lists);
        return {
          search: async (query, timeoutMs) => reader.search(query, timeoutMs),
          close: async () => reader.close(),
        };
      },
      async contents() {
        const database = provider.open(path);
        try {
          const query: Query = async (sql) => database.prepare(sql).all();
          const words = await query(`SELECT rowid FROM text_index WHERE text_index MATCH 'bitcoin'`);
          return { ...(await readContents(query)), words };
        } finally {
          database.close();
        }
      },
      remove: async () => rmSync(folder, { recursive: true }),
    };
  },
};

export const searchBackends: readonly SearchBackendOfTests[] = [sqlite];
