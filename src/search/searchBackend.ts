/** What the rest of the node asks of search, and what a backend has to offer. */
import type { Bytes } from '../util/bytes.js';
import type { IndexWriter } from './follow/indexChange.js';
import type { SearchQuery } from './query/searchQuery.js';

/** Rows of one page. Ids in wire order. */
export interface SearchPage {
  readonly rows: readonly Bytes[];
  /** The total of all pages; at most 1,000. */
  readonly total: number;
  /** How many transactions of this page each censoring channel removed. */
  readonly blocked: readonly { readonly channelId: Bytes; readonly count: number }[];
  /** The block that the answer is of. */
  readonly height: number;
  /** Claims of the page that are shown with their mempool state; latin1. */
  readonly waiting?: ReadonlySet<string>;
}

/** A page as backends answer it: ids are hex as printed. */
export interface BackendPage {
  readonly rows: readonly string[];
  readonly total: number;
  readonly blocked: readonly { readonly channelId: string; readonly count: number }[];
  readonly height: number;
}

/** A store of documents. */
export interface SearchBackend {
  /** `sqlite` or `postgres`, with the version of what is behind it. */
  readonly description: string;
  readonly writer: IndexWriter;
  /** Throws `SearchError`: `timeout` after the time that searches have. `by` is the client. */
  search(query: SearchQuery, by: object): Promise<BackendPage>;
  /** Searches running and waiting. */
  readonly load: { readonly running: number; readonly waiting: number };
  close(): Promise<void>;
}

/** What searches may take; then they end in an error. Source: the hub's `query_timeout_ms`. */
export const SEARCH_TIMEOUT_MS = 10_000;
