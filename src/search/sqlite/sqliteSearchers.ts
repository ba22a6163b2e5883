/**
 * Threads that search an index file for the thread that created them. Each thread is started when it is first needed. If all
 * threads are busy, searches wait in a bounded queue; waiting counts towards the timeout. A search ends itself at the
 * timeout (`sqliteReader.ts`), so that no thread is terminated during a statement.
 */
import type { CensorLists } from '../hits/censor.js';
import { KeptThread, standIn } from '../thread/keptThread.js';
import { SEARCH_TIMEOUT_MS, type BackendPage } from '../searchBackend.js';
import { SearchError } from '../query/searchError.js';
import type { SearchQuery } from '../query/searchQuery.js';
import type { SlotLoad } from '../../scheduler/fairSlots.js';
import { SearchSlots } from '../thread/searchSlots.js';
import { SearchThread } from '../thread/searchThread.js';

export interface SearchersSetup {
  readonly path: string;
  readonly lists: CensorLists;
  /** Number of search threads. */
  readonly readers: number;
  readonly timeoutMs?: number;
}

export interface SearchersOptions {
  /** Called with a text when a thread has ended unexpectedly. */
  readonly warn?: (text: string) => void;
  /** See `KeptThread`. */
  readonly pausesMs?: readonly number[];
}

/** A search thread that is started when it is first needed. */
class Searcher {
  private readonly start: () => KeptThread;
  private thread: KeptThread | null = null;
  private isClosed = false;

  constructor(start: () => KeptThread) {
    this.start = start;
  }

  /** Whether the thread can search, or has not been started yet. */
  get isUp(): boolean {
    return this.thread?.isUp ?? true;
  }

  search(query: SearchQuery, leftMs: number): Promise<BackendPage> {
    if (this.isClosed) return Promise.reject(new SearchError('unavailable', 'The search index is closed'));
    this.thread ??= this.start();
    return this.thread.call('search', [query, leftMs]) as Promise<BackendPage>;
  }

  /** Closes the file in this thread. A thread that has ended has no open file. */
  async release(): Promise<void> {
    if (this.thread?.isUp === true) await this.thread.call('release', []);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.thread?.close();
  }
}

export class SqliteSearchers {
  private readonly searchers: readonly Searcher[];
  private readonly slots: SearchSlots<Searcher>;

  constructor({ path, lists, readers, timeoutMs }: SearchersSetup, { warn, pausesMs }: SearchersOptions) {
    const start = (): KeptThread =>
      new KeptThread({
        ...(warn && { warn }),
        ...(pausesMs && { pausesMs }),
        name: 'A thread that searches claims',
        start: () => new SearchThread(['sqlite', 'searchWorker.js'], { role: 'reader', path, lists }),
      });
    this.searchers = Array.from({ length: readers }, () => new Searcher(start));
    this.slots = new SearchSlots(
      this.searchers,
      { timeoutMs: timeoutMs ?? SEARCH_TIMEOUT_MS },
      (searcher, query, leftMs) => standIn(searcher, this.searchers).search(query, leftMs),
    );
  }

  get load(): SlotLoad {
    return this.slots.load;
  }

  search(query: SearchQuery, by: object): Promise<BackendPage> {
    return this.slots.search(query, by);
  }

  /** Closes the index file in all search threads, because the file is about to be deleted. */
  async release(): Promise<void> {
    await Promise.all(this.searchers.map((searcher) => searcher.release()));
  }

  async close(): Promise<void> {
    this.slots.close();
    await Promise.all(this.searchers.map((searcher) => searcher.close()));
  }
}
