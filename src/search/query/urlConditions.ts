/**
 * URLs as constraints. `channel` means what is in a channel; short and canonical URLs tell claims: they follow from all live claims of a name, so that one claim's end changes those
 * of others; the claim index knows them as of its tip, and no document holds them.
 */
import type { ClaimIndexReader, ClaimRecord, ResolvedUrl } from '../../index/claims/claimReader.js';
import { hashToHex } from '../../util/bytes.js';
import type { Condition, SearchQuery } from './searchQuery.js';

const URL_OF: Readonly<Record<string, (claim: ClaimRecord) => string>> = {
  short_url: (claim) => claim.shortUrl,
  canonical_url: (claim) => claim.canonicalUrl,
};

/** `@`, by which names of channels begin. */
const CHANNEL_MARK = 0x40;

/**
 * The channel in which a URL has claims looked for: the one that it names, else the one that validly signed the claim that it
 * names. Null if there is none. Source: lbryio/hub herald/session.py `claimtrie_search`.
 */
export function channelOfUrl({ claim, channel }: ResolvedUrl): ClaimRecord | null {
  return claim?.name[0] === CHANNEL_MARK ? claim : channel;
}

/** The query with the claims that have its URLs in their place. */
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
