/**
 * The SQLite backend: one thread writes the index file and a few threads read it. Other threads of the process may have
 * their own readers; `onRelease` notifies them to close the file.
 */
import type { MessagePort } from 'node:worker_threads';
import type { CensorLists } from '../hits/censor.js';
import type { FollowerLine } from '../follow/followerLine.js';
import type { IndexWriter } from '../follow/indexChange.js';
import { KeptThread, writerIn } from '../thread/keptThread.js';
import type { BackendPage, SearchBackend } from '../searchBackend.js';
import type { SearchQuery } from '../query/searchQuery.js';
import type { SlotLoad } from '../../scheduler/fairSlots.js';
import type { SqliteIndexOptions } from './sqliteIndexWriter.js';
import { SqliteSearchers } from './sqliteSearchers.js';
import { loadSqlite } from '../../sqlite/sqliteProvider.js';
import { SearchThread } from '../thread/searchThread.js';
import type { WorkerRole } from './workerRole.js';

export interface SqliteBackendOptions extends SqliteIndexOptions {
  readonly lists: CensorLists;
  /** Number of search threads. */
  readonly readers: number;
  readonly timeoutMs?: number;
  /** Connection to the follower; set if the writer thread also follows the claim index. */
  readonly followed?: FollowedInThread;
  /** Called with a text when a thread has ended unexpectedly. */
  readonly warn?: (text: string) => void;
  /** See `KeptThread`. */
  readonly pausesMs?: readonly number[];
}

/** Connects to the follower that runs in the writer thread. */
export interface FollowedInThread {
  /** Creates the connection to the follower in a new thread. */
  connect(): FollowerLine;
  /** Called when the thread has ended unexpectedly. Another thread may be started. */
  lost(why: string): void;
}

const searchThread = (role: WorkerRole, transfer?: readonly MessagePort[]): SearchThread =>
  new SearchThread(['sqlite', 'searchWorker.js'], role, transfer);

export class SqliteBackend implements SearchBackend {
  readonly description: string;
  readonly writer: IndexWriter;
  private readonly writing: KeptThread;
  private readonly searchers: SqliteSearchers;
  private readonly releasing = new Set<() => Promise<void>>();
  private readonly closing = new Int32Array(new SharedArrayBuffer(4));
  private isClosed = false;

  private constructor(description: string, options: SqliteBackendOptions) {
    this.description = description;
    const { path, chain, prefixes, followed, warn, pausesMs } = options;
    const index = { path, chain, prefixes, closing: this.closing };
    const kept = { ...(warn && { warn }), ...(pausesMs && { pausesMs }) };
    this.writing = new KeptThread({
      ...kept,
      name: 'The thread that writes the search index',
      start: () => {
        const line = followed?.connect();
        return searchThread({ role: 'writer', index, follower: line?.setup ?? null }, line?.transfer);
      },
      onEnd: (why) => followed?.lost(why),
    });
    this.searchers = new SqliteSearchers(options, kept);
    this.writer = writerIn(this.writing, () => this.release());
  }

  /** Opens the backend. Throws `EnvironmentError` if SQLite is missing. `neededBy` is the option that needs it. */
  static async open(options: SqliteBackendOptions, neededBy = '-claimsearch'): Promise<SqliteBackend> {
    const { name, version } = await loadSqlite(neededBy);
    return new SqliteBackend(`SQLite ${version} (${name})`, options);
  }

  get load(): SlotLoad {
    return this.searchers.load;
  }

  search(query: SearchQuery, by: object): Promise<BackendPage> {
    return this.searchers.search(query, by);
  }

  /**
   * Registers a function that closes readers in other threads. The function is called before the file is deleted and before
   * this backend closes. Returns a function that unregisters it.
   */
  onRelease(release: () => Promise<void>): () => void {
    this.releasing.add(release);
    return () => void this.releasing.delete(release);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    Atomics.store(this.closing, 0, 1);
    // The writer is closed last, because the last connection to close the file checkpoints the log, which only the writer
    // may do.
    await this.searchers.close();
    await this.writing.close();
  }

  /** Closes the index file in all search threads, because the file is about to be deleted. */
  async release(): Promise<void> {
    await Promise.all([this.searchers.release(), ...[...this.releasing].map((release) => release())]);
  }
}
