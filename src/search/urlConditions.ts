/**
 * Short and canonical URLs as constraints. They follow from all live claims of a name, so that one claim's end changes those
 * of others; the claim index knows them as of its tip, and no document holds them.
 */
import type { ClaimIndexReader, ClaimRecord } from '../index/claims/claimReader.js';
import { hashToHex } from '../util/bytes.js';
import type { Condition, SearchQuery } from './searchQuery.js';

const URL_OF: Readonly<Record<string, (claim: ClaimRecord) => string>> = {
  short_url: (claim) => claim.shortUrl,
  canonical_url: (claim) => claim.canonicalUrl,
};

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
