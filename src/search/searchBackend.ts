/** The search interface for other modules, and the interface of backends. */
import type { Bytes } from '../util/bytes.js';
import type { IndexWriter } from './follow/indexChange.js';
import type { SearchQuery } from './query/searchQuery.js';

/** Rows of one page. Ids in wire order. */
export interface SearchPage {
  readonly rows: readonly Bytes[];
  /** Number of hits on all pages; at most 1,000. */
  readonly total: number;
  /** For each censoring channel the number of transactions removed from this page. */
  readonly blocked: readonly { readonly channelId: Bytes; readonly count: number }[];
  /** Height of the block to which the result belongs. */
  readonly height: number;
  /** Claims of the page in their mempool state; latin1. */
  readonly waiting?: ReadonlySet<string>;
}

/** A page returned by backends: ids are hex in printed order. */
export interface BackendPage {
  readonly rows: readonly string[];
  readonly total: number;
  readonly blocked: readonly { readonly channelId: string; readonly count: number }[];
  readonly height: number;
}

/** A store of documents. */
export interface SearchBackend {
  /** `sqlite` or `postgres`, with the version of the database. */
  readonly description: string;
  readonly writer: IndexWriter;
  /** Throws `SearchError`, with kind `timeout` after the time limit of searches. `by` is the client. */
  search(query: SearchQuery, by: object): Promise<BackendPage>;
  /** Numbers of running and waiting searches. */
  readonly load: { readonly running: number; readonly waiting: number };
  close(): Promise<void>;
}

/** Time limit of searches. Source: the hub's `query_timeout_ms`. */
export const SEARCH_TIMEOUT_MS = 10_000;
