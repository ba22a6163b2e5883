/**
 * Searches that run at the same time, as many as there are slots (threads, connections), and those that wait for one in a
 * bounded queue. Waiting counts as time.
 */
import type { BackendPage } from './searchBackend.js';
import { SearchError } from './searchError.js';
import type { SearchQuery } from './searchQuery.js';

/** Searches that wait; more are refused. Arbitrary. */
const MAX_WAITING = 1000;

interface Waiting {
  readonly query: SearchQuery;
  readonly sinceMs: number;
  readonly resolve: (page: BackendPage) => void;
  readonly reject: (error: Error) => void;
}

export class SearchSlots<Slot> {
  private readonly slots: number;
  private readonly idle: Slot[];
  private readonly waiting: Waiting[] = [];
  private readonly timeoutMs: number;
  private readonly run: (slot: Slot, query: SearchQuery, leftMs: number) => Promise<BackendPage>;
  private isClosed = false;

  /** `run` carries a search out in the time that is left. */
  constructor(
    slots: readonly Slot[],
    timeoutMs: number,
    run: (slot: Slot, query: SearchQuery, leftMs: number) => Promise<BackendPage>,
  ) {
    this.slots = slots.length;
    this.idle = [...slots];
    this.timeoutMs = timeoutMs;
    this.run = run;
  }

  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.slots - this.idle.length, waiting: this.waiting.length };
  }

  search(query: SearchQuery): Promise<BackendPage> {
    if (this.isClosed) return Promise.reject(new SearchError('unavailable', 'The search index is closed'));
    if (this.idle.length === 0 && this.waiting.length >= MAX_WAITING) {
      return Promise.reject(new SearchError('unavailable', 'Too many searches are waiting'));
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ query, sinceMs: performance.now(), resolve, reject });
      this.next();
    });
  }

  /** Those that wait are told so; those that run go on. */
  close(): void {
    this.isClosed = true;
    const closed = new SearchError('unavailable', 'The search index is closed');
    for (const { reject } of this.waiting.splice(0)) reject(closed);
  }

  private next(): void {
    while (this.idle.length > 0 && this.waiting.length > 0) {
      const { query, sinceMs, resolve, reject } = this.waiting.shift()!;
      const leftMs = this.timeoutMs - (performance.now() - sinceMs);
      if (leftMs <= 0) {
        reject(new SearchError('timeout', 'query timed out'));
        continue;
      }
      const slot = this.idle.pop()!;
      this.run(slot, query, leftMs)
        .then(resolve, reject)
        .finally(() => {
          this.idle.push(slot);
          this.next();
        });
    }
  }
}
