/**
 * Selects the hits of a page: removes duplicates, limits the claims of each channel, and cuts the page. The limit per
 * channel applies to all pages of a search together; the reference applies it to each page. Source: lbryio/hub,
 * hub/herald/search.py `__remove_duplicates`, `__search_ahead`.
 */

/** Maximum number of hits on all pages, and maximum number of examined hits without a limit per channel. */
export const MAX_HITS = 1000;
/**
 * Maximum number of examined hits if there is a limit per channel. It is higher, so that a channel with many claims does not
 * hide others.
 */
export const MAX_LIMITED_HITS = 4000;

export interface SearchHit {
  /** Claim id, hex in display order. */
  readonly claimId: string;
  readonly channelId: string | null;
  /** Id of the claim's channel if its signature is valid; otherwise null. */
  readonly signerId: string | null;
  readonly repostedId: string | null;
  readonly creationHeight: number;
}

/** Keeps only the oldest of a claim and its reposts. It stays at its own position in the list. */
export function removeDuplicates<Hit extends SearchHit>(hits: readonly Hit[]): Hit[] {
  const kept = new Map<string, Hit>();
  for (const hit of hits) {
    const key = hit.repostedId ?? hit.claimId;
    const known = kept.get(key);
    if (known === undefined || hit.creationHeight < known.creationHeight) kept.set(key, hit);
  }
  return hits.filter((hit) => kept.get(hit.repostedId ?? hit.claimId) === hit);
}

/** Keeps the first `most` claims of each channel whose signature is valid, and all other claims. */
function limitPerChannel<Hit extends SearchHit>(hits: readonly Hit[], most: number): Hit[] {
  const counts = new Map<string, number>();
  return hits.filter(({ signerId }) => {
    if (signerId === null) return true;
    const count = (counts.get(signerId) ?? 0) + 1;
    counts.set(signerId, count);
    return count <= most;
  });
}

/** Returns all hits in order; pages are cut from this list. */
export function arrangeHits<Hit extends SearchHit>(
  hits: readonly Hit[],
  options: { readonly removeDuplicates: boolean; readonly perChannel: number },
): readonly Hit[] {
  const single = options.removeDuplicates ? removeDuplicates(hits) : hits;
  return options.perChannel === 0 ? single : limitPerChannel(single, options.perChannel).slice(0, MAX_HITS);
}
