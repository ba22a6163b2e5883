/**
 * URLs as constraints. `channel` selects the claims of a channel; short and canonical URLs select claims. Such URLs depend
 * on all live claims of a name, so the end of one claim changes the URLs of others. So documents do not store them, and the
 * claim index resolves them at its tip.
 */
import type { ClaimIndexReader, ClaimRecord, ResolvedUrl } from '../../index/claims/claimReader.js';
import { hashToHex } from '../../util/bytes.js';
import type { Condition, SearchQuery } from './searchQuery.js';

const URL_OF: Readonly<Record<string, (claim: ClaimRecord) => string>> = {
  short_url: (claim) => claim.shortUrl,
  canonical_url: (claim) => claim.canonicalUrl,
};

/** `@`, the first character of channel names. */
const CHANNEL_MARK = 0x40;

/**
 * The channel whose claims a URL selects: the channel that it names, else the channel that validly signed the claim that it
 * names. Null without one. Source: lbryio/hub herald/session.py `claimtrie_search`.
 */
export function channelOfUrl({ claim, channel }: ResolvedUrl): ClaimRecord | null {
  return claim?.name[0] === CHANNEL_MARK ? claim : channel;
}

/** The query with its URLs replaced by the claims that have them. */
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
