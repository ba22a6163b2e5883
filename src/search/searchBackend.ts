/** Search results, and the interface that all search backends implement. */
import type { Bytes } from '../util/bytes.js';
import type { IndexWriter } from './follow/indexChange.js';
import type { SearchQuery } from './query/searchQuery.js';

/** Rows of one page of results: claim ids in wire order. */
export interface SearchPage {
  readonly rows: readonly Bytes[];
  /** Number of hits on all pages, at most 1,000. */
  readonly total: number;
  /** Number of transactions that each censoring channel removed from this page. */
  readonly blocked: readonly { readonly channelId: Bytes; readonly count: number }[];
  /** Height of the block whose state the index had during the search. */
  readonly height: number;
  /** Ids (latin1) of the claims on the page that are shown with their mempool state. */
  readonly waiting?: ReadonlySet<string>;
}

/** A page as backends return it: ids are hex in display order. */
export interface BackendPage {
  readonly rows: readonly string[];
  readonly total: number;
  readonly blocked: readonly { readonly channelId: string; readonly count: number }[];
  readonly height: number;
}

/** A search backend: stores documents and searches them. */
export interface SearchBackend {
  /** `sqlite` or `postgres`, with the version of the database program. */
  readonly description: string;
  readonly writer: IndexWriter;
  /**
   * Returns a page. Throws `SearchError`, of kind `timeout` if the search exceeds its time limit. `by` identifies the client
   * for fair scheduling.
   */
  search(query: SearchQuery, by: object): Promise<BackendPage>;
  /** Numbers of running and of waiting searches. */
  readonly load: { readonly running: number; readonly waiting: number };
  close(): Promise<void>;
}

/** Time limit of a search in ms. Source: the hub's `query_timeout_ms`. */
export const SEARCH_TIMEOUT_MS = 10_000;
