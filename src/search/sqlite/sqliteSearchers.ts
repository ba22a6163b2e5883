/**
 * Threads that search the file of an index, for the thread that makes them: each is started when it is first needed.
 * Searches beyond those that run wait in a bounded queue; waiting counts as time. A search ends itself when its time is up
 * (`sqliteReader.ts`), so that no thread is ever stopped in the middle of a statement.
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
  /** Threads that search. */
  readonly readers: number;
  readonly timeoutMs?: number;
}

export interface SearchersOptions {
  /** Notified of threads that ended unasked. */
  readonly warn?: (text: string) => void;
  /** See `KeptThread`. */
  readonly pausesMs?: readonly number[];
}

/** A thread that may not be there yet. */
class Searcher {
  private readonly start: () => KeptThread;
  private thread: KeptThread | null = null;
  private isClosed = false;

  constructor(start: () => KeptThread) {
    this.start = start;
  }

  /** Whether it searches, or would when it was started. */
  get isUp(): boolean {
    return this.thread?.isUp ?? true;
  }

  search(query: SearchQuery, leftMs: number): Promise<BackendPage> {
    if (this.isClosed) return Promise.reject(new SearchError('unavailable', 'The search index is closed'));
    this.thread ??= this.start();
    return this.thread.call('search', [query, leftMs]) as Promise<BackendPage>;
  }

  /** A thread that has ended holds no file. */
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

  /** Has them let go of the file, which is about to be deleted. */
  async release(): Promise<void> {
    await Promise.all(this.searchers.map((searcher) => searcher.release()));
  }

  async close(): Promise<void> {
    this.slots.close();
    await Promise.all(this.searchers.map((searcher) => searcher.close()));
  }
}
