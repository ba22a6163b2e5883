/** `getclaimbyid`: a claim that is alive at the tip, by its id or a prefix of it. */
import type { ClaimOfName } from '../../../store/claims/query/oneClaim.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { hashFromHex } from '../../../util/bytes.js';
import { whenResolved, type MaybePromise } from '../../../util/maybePromise.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod, type RpcContext } from '../../declare/method.js';
import { documentedClaim, supportsTag } from '../../format/claimsDocumented.js';
import { claimOfBytesAt, ONE_CLAIM_SCHEMA, oneClaimAnswer } from './answers.js';
import { atBlock, retryWhileGone, type QueriedBlock } from './atBlock.js';
import { blockOfPage, cursorText } from './lists/cursors.js';
import { claimNotFound, requireWholeId } from './lists/listSupports.js';
import { afterParam, optionalCountParam, requestedPage, type ClaimsPageRequest } from './lists/pages.js';

const LEAST_DIGITS = 3;

/** Returns the claim with a page of its supports. */
function withSupports(
  { services }: RpcContext,
  { claim, ...info }: ClaimOfName,
  { id }: QueriedBlock,
  { count, cursor }: ClaimsPageRequest,
): MaybePromise<JsonOut> {
  if (claim === undefined) return {};
  const from = cursor?.place ?? 0;
  const place = from + count;
  const blockHash = services.chain.headers.hash(id);
  const next =
    place < claim.supports.length
      ? cursorText({ blockHash, order: 0, place }, supportsTag(claim.claimId))
      : undefined;
  return documentedClaim(services, info, { ...claim, supports: claim.supports.slice(from, place) }, next);
}

export const getClaimById = defineMethod({
  name: 'getclaimbyid',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary:
    'Gets a claim by its claim id, with all supports or in the documented profile a page of them. All pages describe the block ' +
    'of the first page. If the claim has ended since then, a later page is refused.',
  params: [
    {
      name: 'claimId',
      type: 'claimIdDigits',
      required: true,
      label: 'claimId (parameter 1)',
      description: 'The claim id, or at least its first three digits; with "after" all digits',
    },
    optionalCountParam('Maximum number of supports of the page. Only in the documented profile'),
    afterParam('"nextSupports" of the previous page'),
  ],
  maxArgsInReference: 1,
  result: ONE_CLAIM_SCHEMA,
  examples: [['"36a719a156a1df178531f3c712b8b37f8e7cc3b3"']],
  run(ctx, { claimId, count, after }) {
    if (claimId.length < LEAST_DIGITS) {
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'claimId (parameter 1) should be at least 3 chars');
    }
    const { services } = ctx;
    const { claims } = services;
    // The cursor contains the tag of the whole claim id.
    if (after !== undefined) requireWholeId(claimId);
    const page = requestedPage(count, after, () => supportsTag(hashFromHex(claimId)), 'nextSupports');
    if (page === null)
      return atBlock(services, undefined, ({ height }) =>
        whenResolved(claims.findClaim(claimId), (found) => {
          if (found === null) return {};
          return oneClaimAnswer(ctx, claimOfBytesAt(ctx, found.name, height, found), height);
        }),
      );
    const find = (): QueriedBlock => blockOfPage(services, page.cursor, undefined);
    return retryWhileGone(services, find, (block) =>
      whenResolved(claims.findClaim(claimId), (found) => {
        if (found === null) {
          // The claim existed when its first page was requested.
          if (page.cursor !== null) throw claimNotFound(claimId);
          return {};
        }
        return whenResolved(claimOfBytesAt(ctx, found.name, block.height, found), (claim) =>
          withSupports(ctx, claim, block, page),
        );
      }),
    );
  },
});
