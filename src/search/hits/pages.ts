/**
 * From hits to a page: duplicates, the limit of claims of one channel, the cut. The limit holds for all pages of a search
 * together: a page continues with the counts of those before it. The reference counts on each page from 0.
 * Source: lbryio/hub, hub/herald/search.py `__remove_duplicates`, `__search_ahead`.
 */

/** Hits of a search that are shown on all pages, and looked at where none of a channel is left out. */
export const MAX_HITS = 1000;
/** Hits that are looked at where claims of a channel are left out, so that a busy channel does not hide the others. */
export const MAX_LIMITED_HITS = 4000;

export interface SearchHit {
  /** Hex as printed. */
  readonly claimId: string;
  readonly channelId: string | null;
  /** The channel, where it signed the claim validly. */
  readonly signerId: string | null;
  readonly repostedId: string | null;
  readonly creationHeight: number;
}

/** Keeps only the oldest of a claim and its reposts, at its position. */
export function removeDuplicates<Hit extends SearchHit>(hits: readonly Hit[]): Hit[] {
  const kept = new Map<string, Hit>();
  for (const hit of hits) {
    const key = hit.repostedId ?? hit.claimId;
    const known = kept.get(key);
    if (known === undefined || hit.creationHeight < known.creationHeight) kept.set(key, hit);
  }
  return hits.filter((hit) => kept.get(hit.repostedId ?? hit.claimId) === hit);
}

/** Keeps the first `most` validly signed claims of each channel, and all unsigned hits. */
export function limitPerChannel<Hit extends SearchHit>(hits: readonly Hit[], most: number): Hit[] {
  const counts = new Map<string, number>();
  return hits.filter(({ signerId }) => {
    if (signerId === null) return true;
    const count = (counts.get(signerId) ?? 0) + 1;
    counts.set(signerId, count);
    return count <= most;
  });
}

/** All hits that pages are cut from. */
export function arrangeHits<Hit extends SearchHit>(
  hits: readonly Hit[],
  options: { readonly removeDuplicates: boolean; readonly perChannel: number },
): readonly Hit[] {
  const single = options.removeDuplicates ? removeDuplicates(hits) : hits;
  return options.perChannel === 0 ? single : limitPerChannel(single, options.perChannel).slice(0, MAX_HITS);
}
