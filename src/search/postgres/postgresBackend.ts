/**
 * The PostgreSQL backend. One thread writes and a few threads read, each with many connections, so that neither decoding
 * claims nor ranking hits blocks the node. While the server is not reachable, searches fail and the index is not updated.
 */
import type { CensorLists } from '../hits/censor.js';
import type { IndexWriter } from '../follow/indexChange.js';
import { KeptThread, standIn, writerIn } from '../thread/keptThread.js';
import type { PostgresIndexOptions } from './postgresIndexWriter.js';
import { PostgresAwayError, PostgresConnection, type PostgresTarget } from './postgresProvider.js';
import { schemaContent } from './postgresSchema.js';
import type { PostgresWorkerData } from './postgresWorker.js';
import { SEARCH_TIMEOUT_MS, type BackendPage, type SearchBackend } from '../searchBackend.js';
import type { SearchQuery } from '../query/searchQuery.js';
import { SearchSlots } from '../thread/searchSlots.js';
import { SearchThread } from '../thread/searchThread.js';

export interface PostgresBackendOptions extends PostgresIndexOptions {
  readonly lists: CensorLists;
  /** Maximum number of concurrent searches. Each search uses a separate connection. */
  readonly connections: number;
  readonly timeoutMs?: number;
  /** Called with a text when a thread has ended unexpectedly. */
  readonly warn?: (text: string) => void;
}

/**
 * Number of connections that one thread uses for searches. The thread only ranks hits, which takes less time than the work
 * of the server. Arbitrary.
 */
const CONNECTIONS_OF_THREAD = 4;

const searchThread = (role: PostgresWorkerData): SearchThread =>
  new SearchThread(['postgres', 'postgresWorker.js'], role);

/**
 * Checks whether an index can be stored on the server. Throws `EnvironmentError` if the package `pg` is missing, if the
 * server rejects the connection permanently, or if the schema belongs to other data. In the result, `away` is the reason if
 * the server is not reachable.
 */
export async function probePostgres(
  target: PostgresTarget & { readonly chain: string },
): Promise<{ readonly version: string | null; readonly away: string | null }> {
  try {
    const connection = await PostgresConnection.open(target, 'reader');
    try {
      await schemaContent(connection, target.chain);
    } finally {
      await connection.close();
    }
    return { version: connection.version, away: null };
  } catch (error) {
    if (!(error instanceof PostgresAwayError)) throw error;
    return { version: null, away: error.message };
  }
}

export class PostgresBackend implements SearchBackend {
  readonly description: string;
  readonly writer: IndexWriter;
  private readonly threads: readonly KeptThread[];
  private readonly slots: SearchSlots<KeptThread>;
  private isClosed = false;

  private constructor(description: string, options: PostgresBackendOptions) {
    this.description = description;
    const { url, schema, chain, prefixes, lists, connections, warn } = options;
    const keep = (name: string, role: PostgresWorkerData): KeptThread =>
      new KeptThread({ name, start: () => searchThread(role), ...(warn && { warn }) });
    const writing = keep('The thread that writes the search index', {
      role: 'writer',
      options: { url, schema, chain, prefixes },
    });
    const threads = Math.ceil(connections / CONNECTIONS_OF_THREAD);
    const readers = Array.from({ length: threads }, () =>
      keep('A thread that searches claims', { role: 'reader', options: { url, schema, chain, lists } }),
    );
    this.threads = [writing, ...readers];
    this.slots = new SearchSlots(
      Array.from({ length: connections }, (_, i) => readers[i % threads]!),
      { timeoutMs: options.timeoutMs ?? SEARCH_TIMEOUT_MS },
      (reader, query, leftMs) =>
        standIn(reader, readers).call('search', [query, leftMs]) as Promise<BackendPage>,
    );
    this.writer = writerIn(writing);
  }

  /** Opens the backend. Checks the server like `probePostgres`; an unreachable server does not prevent the start. */
  static async open(
    options: PostgresBackendOptions,
  ): Promise<{ readonly backend: PostgresBackend; readonly away: string | null }> {
    const { version, away } = await probePostgres(options);
    return {
      backend: new PostgresBackend(version === null ? 'PostgreSQL' : `PostgreSQL ${version}`, options),
      away,
    };
  }

  get load(): { readonly running: number; readonly waiting: number } {
    return this.slots.load;
  }

  search(query: SearchQuery, by: object): Promise<BackendPage> {
    return this.slots.search(query, by);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.slots.close();
    await Promise.all(this.threads.map((thread) => thread.close()));
  }
}
