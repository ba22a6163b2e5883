/** Main program of a thread that writes or reads the SQLite search index. Calls are handled one by one. */
import { existsSync, statSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { startFollower } from '../follow/followerThread.js';
import type { IndexWriter } from '../follow/indexChange.js';
import { SearchError } from '../query/searchError.js';
import type { SearchQuery } from '../query/searchQuery.js';
import { SqliteIndexWriter, type SqliteIndexOptions } from './sqliteIndexWriter.js';
import { loadSqlite, type SqliteProvider } from '../../sqlite/sqliteProvider.js';
import { READER_CACHE_BYTES, SqliteReader } from './sqliteReader.js';
import { isCorruption, WRITER_CACHE_BYTES } from './sqliteWriter.js';
import { reportMemory, type CacheUsage } from '../../util/threadMemory.js';
import { serveSearchThread } from '../thread/searchThread.js';
import type { WorkerRole } from './workerRole.js';

/** Whether SQLite reports that the file has no tables yet or is being created. */
const isUnfinished = (error: unknown): boolean =>
  error instanceof Error && /no such table|database is locked/.test(error.message);

/**
 * Reader that opens the index file on demand. Until the index is complete, the file is opened again for each search, because
 * an incomplete file must not be kept open.
 */
class IndexFileReader {
  private readonly path: string;
  private readonly open: () => SqliteReader;
  private reader: SqliteReader | null = null;

  constructor(path: string, open: () => SqliteReader) {
    this.path = path;
    this.open = open;
  }

  search(query: SearchQuery, timeoutMs: number) {
    if (this.reader === null && !existsSync(this.path)) {
      throw new SearchError('unavailable', 'The search index is being built');
    }
    try {
      this.reader ??= this.open();
      return this.reader.search(query, timeoutMs);
    } catch (error) {
      if (error instanceof SearchError && error.kind !== 'unavailable') throw error;
      this.close();
      if (error instanceof SearchError) throw error;
      if (isUnfinished(error)) throw new SearchError('unavailable', 'The search index is being built');
      if (!isCorruption(error)) throw error;
      throw new SearchError('corrupt', 'The search index is corrupt and is being rebuilt');
    }
  }

  /** Closes the index file because the file is about to be deleted. */
  release(): void {
    this.close();
  }

  close(): void {
    this.reader?.close();
    this.reader = null;
  }
}

function openWriter(provider: SqliteProvider, index: SqliteIndexOptions): IndexWriter {
  try {
    return new SqliteIndexWriter(provider, index);
  } catch (error) {
    return failing(error);
  }
}

/** Returns a writer whose calls all fail with `error`. */
function failing(error: unknown): IndexWriter {
  return new Proxy({} as IndexWriter, {
    get: (_target, name) => (name === 'then' ? undefined : () => Promise.reject(error as Error)),
  });
}

async function callsOf(role: WorkerRole): Promise<object> {
  const provider = await loadSqlite();
  if (role.role === 'reader')
    return new IndexFileReader(role.path, () => new SqliteReader(provider, role.path, role.lists));
  const writer = openWriter(provider, role.index);
  if (role.follower !== null) startFollower(role.follower, writer);
  return writer;
}

/**
 * Returns the memory of SQLite's page cache. SQLite does not report it, so it is estimated as the cache limit, or the file
 * size if that is smaller.
 */
function pageCache(path: string, maxBytes: number): CacheUsage[] {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return [{ name: 'sqlite_pages', bytes: Math.min(size, maxBytes), maxBytes }];
}

const role = workerData as WorkerRole;
if (role.role === 'reader')
  reportMemory('claim search, reader', () => pageCache(role.path, READER_CACHE_BYTES));
else reportMemory('claim search, writer', () => pageCache(role.index.path, WRITER_CACHE_BYTES));
serveSearchThread(() => callsOf(role), true);
