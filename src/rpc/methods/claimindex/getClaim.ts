/** `getclaim`: returns a claim by its id, if the claim is unspent and not expired. */
import { hashFromHex, type Bytes } from '../../../util/bytes.js';
import type { ClaimRecord } from '../../../index/claims/claimReader.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { ClaimShower, CONFIRMED_ONLY, FULL_CLAIM, requireClaimIndex, shownBy } from './claimAnswer.js';

const ALL_DIGITS = 40;

export const getClaim = defineMethod({
  name: 'getclaim',
  category: 'claimindex',
  explorer: 'console',
  chainUse: 'reads',
  summary:
    'Returns a claim that exists after the latest block, active or pending, or in the mempool, with its ' +
    'decoded value, its channel and the claim that it reposts (needs -claimindex).',
  params: [
    { name: 'claimid', type: 'claimIdDigits', required: true, description: 'The claim id, 40 hex digits' },
    CONFIRMED_ONLY,
  ],
  result: FULL_CLAIM,
  examples: [['"36a719a156a1df178531f3c712b8b37f8e7cc3b3"']],
  async run({ services }, { claimid, confirmedonly }) {
    const index = requireClaimIndex(services);
    if (claimid.length !== ALL_DIGITS)
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'claimid must have 40 hexadecimal digits');
    const shown = shownBy(services, index, confirmedonly);
    const [claim] = await shown.latest([hashFromHex(claimid)]);
    if (!claim) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, `Could not find claim at ${claimid}`);
    const channelOf = (of: ClaimRecord | null): Promise<ClaimRecord | null> =>
      referred(of?.isSignatureValid === true ? of.channelId : null);
    // For a confirmed claim, its channel and repost target are read without the changes in the mempool.
    const find = (id: Bytes) => (claim.waiting ? shown.latest([id]) : shown.claims([id]));
    const referred = async (id: Bytes | null): Promise<ClaimRecord | null> =>
      id && ((await find(id))[0] ?? null);
    const [channel, reposted] = [await channelOf(claim), await referred(claim.repostedId)];
    const repostedChannel = await channelOf(reposted);
    return new ClaimShower(services, index).full({ claim, channel, reposted, repostedChannel });
  },
});
