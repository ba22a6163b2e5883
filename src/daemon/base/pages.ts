/**
 * Pages of lists. Source: lbry-sdk lbry/extras/daemon/daemon.py `paginate_rows`, `paginate_list`.
 */
import type { JsonOut } from '../../util/json/jsonWrite.js';

/** Source: `DEFAULT_PAGE_SIZE`. */
const DEFAULT_PAGE_SIZE = 20;

export interface ResultPage {
  readonly page: number;
  readonly pageSize: number;
  /** Number of items before the page. */
  readonly offset: number;
}

/** Reads the requested page. Both numbers are at least 1; zero counts as absent. */
export function pageOf(args: {
  readonly page?: number | undefined;
  readonly page_size?: number | undefined;
}): ResultPage {
  const page = Math.max(1, args.page || 1);
  const pageSize = Math.max(1, args.page_size || DEFAULT_PAGE_SIZE);
  // The upper bound of the offset is beyond the end of any list, and is a number that the database accepts.
  return { page, pageSize, offset: Math.min(pageSize * (page - 1), Number.MAX_SAFE_INTEGER) };
}

/** One page of a list in the form of answers; without totals if `total` is null. */
export function paged(
  items: readonly JsonOut[],
  total: number | null,
  { page, pageSize }: Pick<ResultPage, 'page' | 'pageSize'>,
): Record<string, JsonOut> {
  const answer: Record<string, JsonOut> = { items, page, page_size: pageSize };
  if (total === null) return answer;
  return { ...answer, total_items: total, total_pages: Math.ceil(total / pageSize) };
}

/** Cuts one page out of a list that is in memory. */
export function pageOfList(items: readonly JsonOut[], page: ResultPage): Record<string, JsonOut> {
  return paged(items.slice(page.offset, page.offset + page.pageSize), items.length, page);
}
