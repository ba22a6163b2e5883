/** `searchclaims`: a page of claims selected by constraints and text, in a given order. */
import { refuseUnknownNames } from '../../../search/query/constraintNames.js';
import { givenConstraints } from '../../../search/query/givenConstraints.js';
import type { SearchPage } from '../../../search/searchBackend.js';
import { SearchError } from '../../../search/query/searchError.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { hashToHex, toLatin1, type Bytes } from '../../../util/bytes.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import type { ClaimRecord } from '../../../index/claims/claimReader.js';
import type { ShownClaims } from '../../../index/waiting/waitingIndex.js';
import { ClaimShower, FULL_CLAIM, requireClaimIndex, shownBy } from './claimAnswer.js';

/** Maximum number of claims in a page: the number of candidates of a search, which may all be on one page. */
const MOST_CLAIMS = 1000;
/** Maximum number of constraints in a search. Arbitrary: about sixty exist, and each can be given in several forms. */
const MOST_CONSTRAINTS = 1000;

export const searchClaims = defineMethod({
  name: 'searchclaims',
  category: 'claimindex',
  explorer: 'page',
  chainUse: 'reads',
  summary:
    'Returns a page of the claims that match all constraints (needs -claimsearch). Constraints, sort ' +
    'orders and the syntax of texts are those of claim_search of the hub. A page requested by "offset" ' +
    'shows the state at the time of the call. Pages requested by "after", with the same constraints, are ' +
    'consistent even if new blocks are connected: they contain the result of the first search in its ' +
    'order, with the current data of each claim, without claims that were abandoned since. Claims in the ' +
    'mempool are at the beginning of the first page; updates replace the confirmed claim.',
  params: [
    {
      name: 'constraints',
      type: 'object',
      required: true,
      description:
        'Constraints, among others text, name, namehex (the bytes of a name in hex), claim_ids, channel, channel_ids, signature_valid, any_tags, ' +
        'claim_type, release_time, is_reposted_claim_gone, confirmed_only (excludes claims in the mempool). ' +
        'The following members select the part of the result: order_by, limit (default 10), offset, and ' +
        'remove_duplicates and limit_claims_per_channel (applied to all pages together)',
    },
    {
      name: 'after',
      type: 'string',
      defaultText: 'a single page',
      description:
        'Cursor of the page: "next" of the previous page, or an empty string for the first page. The node ' +
        'keeps the results of the latest 1,000 such searches until it stops',
    },
  ],
  result: t.object({
    height: t.int('the height of the block for which the search was run'),
    total: t.int('the number of claims in all pages; at most 1000'),
    claims: t.array(FULL_CLAIM),
    blocked: t.array(
      t.object({
        channel_id: t.str('the claim id of a channel whose reposts block claims (40 hex digits)'),
        count: t.int(
          'the number of transactions that it removes from this page, or from all pages of a search with "after"',
        ),
      }),
    ),
    next: t.optional(
      t.str('cursor of the next page, to be passed as "after"'),
      'with "after", if there is a next page',
    ),
  }),
  examples: [['{"text": "satoshi", "order_by": "release_time", "limit": 5}']],
  async run({ services }, { constraints, after }): Promise<JsonOut> {
    const { claimSearch, claimIndex } = services;
    if (claimSearch === null)
      throw rpcError(
        RPC_ERROR.MISC_ERROR,
        claimIndex === null
          ? 'Claim search is not enabled. Start with -claimsearch, which also turns on -claimindex'
          : 'Claim search is not enabled. Start with -claimsearch',
      );
    const index = requireClaimIndex(services);
    if (constraints.entries.length > MOST_CONSTRAINTS)
      throw rpcError(
        RPC_ERROR.INVALID_PARAMETER,
        `A search can have at most ${MOST_CONSTRAINTS} constraints.`,
      );
    const wanted = givenConstraints(constraints);
    const { limit } = wanted;
    if ((typeof limit === 'number' || typeof limit === 'string') && Number(limit) > MOST_CLAIMS)
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, `limit must be at most ${MOST_CLAIMS}.`);
    const find = async (): Promise<SearchPage & { readonly next?: string | null }> => {
      refuseUnknownNames(constraints.keys());
      return after === undefined ? claimSearch.search(wanted) : claimSearch.walk(wanted, after);
    };
    const page = await find().catch((error: unknown) => {
      if (!(error instanceof SearchError)) throw error;
      const code = error.kind === 'bad-request' ? RPC_ERROR.INVALID_PARAMETER : RPC_ERROR.MISC_ERROR;
      throw rpcError(code, error.message);
    });
    const shown = shownBy(services, index, false);
    const shower = new ClaimShower(services, index);
    const claims: JsonOut[] = [];
    const known = new Map<string, Promise<ClaimRecord | null>>();
    let since = performance.now();
    const lookUp = async (id: Bytes, isWaiting: boolean): Promise<ClaimRecord | null> =>
      (await (isWaiting ? shown.latest([id]) : shown.claims([id])))[0] ?? null;
    /** Returns a channel or repost target; for a claim in the mempool, with the changes in the mempool. */
    const referred = async (id: ClaimRecord['channelId'], isWaiting: boolean) => {
      if (id === null) return null;
      const key = `${isWaiting ? 'w' : 'c'}${toLatin1(id)}`;
      const found = known.get(key) ?? lookUp(id, isWaiting);
      known.set(key, found);
      return found;
    };
    for (const claim of await pageClaims(shown, page)) {
      // The claim was abandoned in a block that the search index has not processed yet.
      if (claim === null) continue;
      const isWaiting = claim.waiting !== undefined;
      const channel = claim.isSignatureValid ? await referred(claim.channelId, isWaiting) : null;
      const reposted = await referred(claim.repostedId, isWaiting);
      const repostedChannel =
        reposted?.isSignatureValid === true ? await referred(reposted.channelId, isWaiting) : null;
      claims.push(await shower.full({ claim, channel, reposted, repostedChannel }));
      since = await yieldIfDue(since);
    }
    return {
      height: page.height,
      total: page.total,
      claims,
      blocked: page.blocked.map(({ channelId, count }) => ({ channel_id: hashToHex(channelId), count })),
      next: page.next ?? undefined,
    };
  },
});

/** Returns the claims of a page in order. Changes in the mempool are included if requested. */
async function pageClaims(
  shown: ShownClaims,
  { rows, waiting }: SearchPage,
): Promise<readonly (ClaimRecord | null)[]> {
  if (waiting === undefined) return shown.claims(rows);
  const isWaiting = (id: Bytes): boolean => waiting.has(toLatin1(id));
  const { latest, confirmed } = await shown.latestAndConfirmed(
    rows.filter(isWaiting),
    rows.filter((id) => !isWaiting(id)),
  );
  let [nextLatest, nextConfirmed] = [0, 0];
  return rows.map((id) => (isWaiting(id) ? latest[nextLatest++]! : confirmed[nextConfirmed++]!));
}
