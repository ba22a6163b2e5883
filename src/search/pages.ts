/**
 * From hits to a page: duplicates, the limit of claims of one channel, the cut. All of it is done with the first 1,000 hits.
 * Source: lbryio/hub, hub/herald/search.py `__remove_duplicates`, `__search_ahead`; `hub.md` 5.5 tells them in words.
 */

/** Hits of a search that are looked at. */
export const MAX_HITS = 1000;

export interface SearchHit {
  /** Hex as printed. */
  readonly claimId: string;
  readonly channelId: string | null;
  readonly repostedId: string | null;
  readonly creationHeight: number;
}

/** Of a claim and its reposts the one made first stays, where it is; of equally old ones the first of them. */
export function removeDuplicates<Hit extends SearchHit>(hits: readonly Hit[]): Hit[] {
  const kept = new Map<string, Hit>();
  for (const hit of hits) {
    const key = hit.repostedId ?? hit.claimId;
    const known = kept.get(key);
    if (known === undefined || hit.creationHeight < known.creationHeight) kept.set(key, hit);
  }
  return hits.filter((hit) => kept.get(hit.repostedId ?? hit.claimId) === hit);
}

/**
 * Deals hits into pages of `pageSize` in which no channel has more than `perChannel`. Surplus waits for the next page, where
 * it comes first. Hits without a channel are never held back. When the hits are used up, those that wait fill whole pages;
 * at the first page that stays incomplete the rest is dropped.
 */
export function limitPerChannel<Hit extends SearchHit>(
  hits: readonly Hit[],
  pageSize: number,
  perChannel: number,
): Hit[] {
  const taken: Hit[] = [];
  let waiting: Hit[] = [];
  let next = 0;
  let counts = new Map<string, number>();
  const take = (hit: Hit): boolean => {
    const { channelId } = hit;
    if (channelId !== null) {
      const count = counts.get(channelId) ?? 0;
      if (count >= perChannel) return false;
      counts.set(channelId, count + 1);
    }
    taken.push(hit);
    return true;
  };
  while (next < hits.length || waiting.length > 0) {
    if (taken.length > 0 && taken.length % pageSize !== 0) break;
    const before = taken.length;
    counts = new Map();
    waiting = waiting.filter((hit) => !take(hit));
    while (next < hits.length) {
      const hit = hits[next++]!;
      if (!take(hit)) waiting.push(hit);
      else if (hit.channelId !== null && taken.length % pageSize === 0) break;
    }
    if (taken.length === before) break;
  }
  return taken;
}

/** All hits that pages are cut from. */
export function arrangeHits<Hit extends SearchHit>(
  hits: readonly Hit[],
  options: { readonly removeDuplicates: boolean; readonly perChannel: number; readonly limit: number },
): readonly Hit[] {
  const single = options.removeDuplicates ? removeDuplicates(hits) : hits;
  if (options.perChannel === 0 || options.limit === 0) return single;
  return limitPerChannel(single, options.limit, options.perChannel);
}
