/**
 * Merges mempool claims into a page of confirmed claims: updated claims keep their positions, and new claims are placed at
 * the beginning. Source: OdyseeTeam/hub, hub/herald/search.py `cached_search`.
 */
import type { WaitingOutput } from '../../index/waiting/waitingOutputs.js';
import { fromLatin1, toLatin1 } from '../../util/bytes.js';
import type { SearchPage } from '../searchBackend.js';
import type { SearchQuery } from '../query/searchQuery.js';

/**
 * Whether a search includes mempool claims: only on the first page, and only if the selection of a hit does not depend on
 * other hits.
 */
export function mergesWaiting(query: SearchQuery): boolean {
  const { offset, removeDuplicates, perChannel, confirmedOnly } = query;
  return offset === 0 && !removeDuplicates && perChannel === 0 && !confirmedOnly;
}

/**
 * Returns the first page with the missing mempool claims of `outputs` added at the beginning. The added claims count in
 * `total`, at most one page of them.
 */
export function withWaiting(
  { limit, allPages }: SearchQuery,
  page: SearchPage,
  outputs: readonly WaitingOutput[],
): SearchPage {
  if (outputs.length === 0) return page;
  const shown = new Set(page.rows.map(toLatin1));
  const added = outputs.filter(({ claimId }) => !shown.has(claimId));
  const rows = [...added.map(({ claimId }) => fromLatin1(claimId)), ...page.rows];
  return {
    ...page,
    rows: allPages ? rows : rows.slice(0, limit),
    total: page.total + added.length,
    waiting: new Set(outputs.map(({ claimId }) => claimId)),
  };
}
