/**
 * How claims that wait in the mempool join a page of claims of the chain: updates take the places of what they update, and new
 * ones stand in front. Source: OdyseeTeam/hub, hub/herald/search.py `cached_search`.
 */
import type { WaitingOutput } from '../index/waiting/waitingOutputs.js';
import { fromLatin1, toLatin1 } from '../util/bytes.js';
import type { SearchPage } from './searchBackend.js';
import type { SearchQuery } from './searchQuery.js';

/** Whether what waits is looked for at all: on the first page, where hits do not decide about one another. */
export function mergesWaiting(query: SearchQuery): boolean {
  const { offset, removeDuplicates, perChannel, confirmedOnly } = query;
  return offset === 0 && !removeDuplicates && perChannel === 0 && !confirmedOnly;
}

/** The first page with what waits, in the order of `outputs`; what is not on it counts in `total`, one page at most. */
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
