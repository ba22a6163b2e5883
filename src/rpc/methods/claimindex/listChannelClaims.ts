/** `listchannelclaims`: a page of the claims that a channel signed. */
import type { ClaimRecord } from '../../../index/claims/claimReader.js';
import { ID_LENGTH } from '../../../index/claims/claimIndexKeys.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import {
  concatBytes,
  equalBytes,
  fromHex,
  fromLatin1,
  hashFromHex,
  isHex,
  toHex,
  toLatin1,
  type Bytes,
} from '../../../util/bytes.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { t } from '../../../schema/schema.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { listTag, TAG_BYTES, withoutTag } from '../../lookup/listTag.js';
import { defineMethod } from '../../declare/method.js';
import { pageParam } from '../claimtrie/lists/pages.js';
import { ClaimShower, FULL_CLAIM, requireClaimIndex } from './claimAnswer.js';

/** Length of a cursor: a name with its length in two bytes, and ten bytes for the place of the output. */
const MIN_CURSOR_BYTES = 12;
const MAX_CURSOR_BYTES = MIN_CURSOR_BYTES + 9 * 255;

const tagOf = (channelId: Bytes): Bytes => listTag('listchannelclaims', channelId);

/** Parses a cursor. Throws if the text cannot be one of the claims of this channel. */
function parseCursor(text: string, channelId: Bytes): string {
  const all = Buffer.from(isHex(text) ? fromHex(text) : []);
  const bytes = all.subarray(0, Math.max(0, all.length - TAG_BYTES));
  const isLength = bytes.length >= MIN_CURSOR_BYTES && bytes.length <= MAX_CURSOR_BYTES;
  if (!isLength || bytes.readUInt16BE(0) !== bytes.length - MIN_CURSOR_BYTES)
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'after must be the value "next" of the previous page');
  withoutTag(all, tagOf(channelId));
  return toLatin1(bytes);
}

export const listChannelClaims = defineMethod({
  name: 'listchannelclaims',
  category: 'claimindex',
  explorer: 'console',
  chainUse: 'reads',
  summary:
    'Returns a page of all claims of the chain that are signed with the current key of a channel (needs ' +
    '-claimindex). Claims with short names come first, those with names of one length in the order of the ' +
    'names, and those of one name from the oldest output to the newest. A page begins after the last claim of the ' +
    'previous page, so blocks between two pages neither repeat nor hide a claim that they do not update. ' +
    'The list is empty for a claim that is not a channel.',
  params: [
    { name: 'claimid', type: 'claimIdDigits', required: true, description: 'The claim id of the channel' },
    pageParam('Maximum number of claims of the page'),
    {
      name: 'after',
      type: 'string',
      defaultText: 'the first page',
      description: 'Cursor of the page: "next" of the previous page',
    },
  ],
  result: t.object({
    claimId: t.claimId('the claim id of the channel'),
    height: t.int('the height of the block for which the list was read'),
    total: t.int('the number of all claims of the channel'),
    claims: t.array(FULL_CLAIM, 'the claims of the page'),
    next: t.optional(t.hex('cursor of the next page, to be passed as "after"'), 'when there is one'),
  }),
  examples: [['"36a719a156a1df178531f3c712b8b37f8e7cc3b3"']],
  async run({ services }, { claimid, count, after }): Promise<JsonOut> {
    const index = requireClaimIndex(services);
    if (claimid.length !== 2 * ID_LENGTH)
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'claimid must have 40 hexadecimal digits');
    const channelId = hashFromHex(claimid);
    const page = await index.signedPage(channelId, {
      after: after === undefined ? '' : parseCursor(after, channelId),
      limit: count,
    });
    if (page === null) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, `Could not find claim at ${claimid}`);
    const [channel = null, ...found] = await index.claims([channelId, ...page.ids]);
    const isSigned = (claim: ClaimRecord | null): claim is ClaimRecord =>
      claim?.isSignatureValid === true && claim.channelId !== null && equalBytes(claim.channelId, channelId);
    const shower = new ClaimShower(services, index);
    const claims: JsonOut[] = [];
    let since = performance.now();
    // A block may have ended claims since the page was read.
    for (const claim of found.filter(isSigned)) {
      const [reposted = null] = claim.repostedId === null ? [] : await index.claims([claim.repostedId]);
      const by = reposted?.isSignatureValid === true ? reposted.channelId : null;
      const [repostedChannel = null] = by === null ? [] : await index.claims([by]);
      claims.push(await shower.full({ claim, channel, reposted, repostedChannel }));
      since = await yieldIfDue(since);
    }
    return {
      claimId: claimid,
      height: page.height,
      total: page.total,
      claims,
      next: page.next === null ? undefined : toHex(concatBytes(fromLatin1(page.next), tagOf(channelId))),
    };
  },
});
