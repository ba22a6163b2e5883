/**
 * Resolves URLs in constraints. `channel` selects the claims of a channel; short and canonical URLs select single claims.
 * URLs depend on all live claims of a name, so the end of one claim changes the URLs of others. Documents therefore do not
 * store them; the claim index resolves them at its tip.
 */
import type { ClaimIndexReader, ClaimRecord, ResolvedUrl } from '../../index/claims/claimReader.js';
import { hashToHex } from '../../util/bytes.js';
import type { Condition, SearchQuery } from './searchQuery.js';

const URL_OF: Readonly<Record<string, (claim: ClaimRecord) => string>> = {
  short_url: (claim) => claim.shortUrl,
  canonical_url: (claim) => claim.canonicalUrl,
};

/** Code of `@`, the first character of channel names. */
const CHANNEL_MARK = 0x40;

/**
 * Returns the channel whose claims a URL selects: the channel that the URL names, otherwise the channel whose valid
 * signature the named claim has. Null if the URL does not resolve. Source: lbryio/hub herald/session.py `claimtrie_search`.
 */
export function channelOfUrl({ claim, channel }: ResolvedUrl): ClaimRecord | null {
  return claim?.name[0] === CHANNEL_MARK ? claim : channel;
}

/** Replaces the URLs in a query by the claims to which they resolve. */
export async function findUrls(
  query: SearchQuery,
  index: Pick<ClaimIndexReader, 'claimsByUrl'>,
): Promise<SearchQuery> {
  let { findsNothing } = query;
  const conditions: Condition[] = [];
  for (const condition of query.conditions) {
    const urlOf = condition.kind === 'keys' ? URL_OF[condition.column] : undefined;
    if (condition.kind !== 'keys' || urlOf === undefined) {
      conditions.push(condition);
      continue;
    }
    const wanted = new Set(condition.values);
    const claims = await index.claimsByUrl(condition.values);
    const found = claims.filter((claim) => claim !== null && wanted.has(urlOf(claim)));
    const values = [...new Set(found.map((claim) => hashToHex(claim!.claimId)))];
    if (values.length === 0) findsNothing = true;
    else conditions.push({ kind: 'ids', column: 'claim_id', values });
  }
  return { ...query, conditions, findsNothing };
}
