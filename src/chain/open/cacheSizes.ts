/** Sizes of the caches of a chain state, from `-dbcache` and `-claimtriecache`. */

/** Maximum share of `-dbcache` for the cache of claims and trie nodes. A larger `-claimtriecache` is reduced to it. */
const CLAIM_CACHE_SHARE = 0.4;
/** Share of the caches for each of the chain and the background validation of its snapshot, while both exist. */
const SHARED = 0.5;

export interface CacheSizes {
  /** Size in bytes of all caches together (`-dbcache`). */
  readonly cacheBytes: number;
  /** Size in bytes of the cache of claims and trie nodes (`-claimtriecache`), which is a part of `cacheBytes`. */
  readonly claimCacheBytes: number;
}

/** Sizes of the caches of one chain state. `isShared`: another chain state has caches of the same sizes. */
export function cacheSizes({ cacheBytes, claimCacheBytes }: CacheSizes, isShared: boolean): CacheSizes {
  const share = isShared ? SHARED : 1;
  return {
    cacheBytes: cacheBytes * share,
    claimCacheBytes: Math.min(claimCacheBytes, cacheBytes * CLAIM_CACHE_SHARE) * share,
  };
}
