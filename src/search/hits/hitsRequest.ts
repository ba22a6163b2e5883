/**
 * Database request for the hits of a search: conditions, order, maximum number of hits, and columns. All backends share this
 * code.
 */
import { HIT_COLUMNS, RANKED_COLUMNS, RANKED_DOCUMENTS } from './hits.js';
import { COMMON_ORDER, NEWEST_ORDER, completeOrder, type OrderTerm } from '../query/order.js';
import { MAX_HITS, MAX_LIMITED_HITS } from './pages.js';
import type { Condition, SearchQuery } from '../query/searchQuery.js';
import type { TextNode } from '../query/textQuery.js';

export interface HitsRequest {
  readonly conditions: readonly Condition[];
  readonly text: TextNode | null;
  readonly order: readonly OrderTerm[];
  readonly wanted: number;
  readonly columns: string;
  /** Whether the columns are the packed words for ranking instead of the columns of table `c`. */
  readonly withWords: boolean;
}

/**
 * Creates the request for a search. `text` is its text with fuzzy words replaced. A text search without an order is ranked
 * by relevance.
 */
export function hitsRequest(
  { conditions, order, perChannel }: SearchQuery,
  text: TextNode | null,
): HitsRequest {
  if (text !== null && order.length === 0) {
    return {
      conditions,
      text,
      order: NEWEST_ORDER,
      wanted: RANKED_DOCUMENTS,
      columns: RANKED_COLUMNS,
      withWords: true,
    };
  }
  return {
    conditions,
    text,
    order: order.length === 0 ? COMMON_ORDER : completeOrder(order),
    wanted: perChannel > 0 ? MAX_LIMITED_HITS : MAX_HITS,
    columns: HIT_COLUMNS,
    withWords: false,
  };
}
