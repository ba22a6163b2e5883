/** Supports of a claim by channel: sums of its unspent supports, grouped by the channel that signed them. */
import { readChannelSums, withSigned, type ChannelSum } from '../../index/claims/channelSums.js';
import type { ClaimIndexQueries } from '../../index/claims/claimIndexQueries.js';
import { hashToHex, type Bytes } from '../../util/bytes.js';
import { notThere } from '../protocol/hubError.js';
import type { Turn } from '../../scheduler/clientQueue.js';

/** Maximum number of claims of a channel for which one request computes sums. Arbitrary: takes about 100 ms. */
const MAX_CLAIMS = 10_000;

/**
 * Sums by channel, sorted from the largest; equal sums are sorted by channel id. With `withContent`, if the claim is a
 * channel, the supports of the claims that it signed are counted too. Throws `HubError` if the claim does not exist or the
 * channel has too many claims.
 */
export async function supportSums(
  index: Pick<ClaimIndexQueries, 'read'>,
  claimId: Bytes,
  withContent: boolean,
  turn: Pick<Turn, 'yieldIfDue'>,
): Promise<ChannelSum[]> {
  const sums = await index.read(async (scope) => {
    const ids = await withSigned(scope, claimId, withContent);
    if (ids === null) throw notThere(`Could not find claim at ${hashToHex(claimId)}`);
    if (ids.length > MAX_CLAIMS + 1) throw notThere(`The channel has more than ${MAX_CLAIMS} claims`);
    return readChannelSums(scope, ids, () => turn.yieldIfDue());
  });
  return sums.sort((a, b) => Number(b.amountSat - a.amountSat) || (idText(a) < idText(b) ? -1 : 1));
}

const idText = ({ channel }: ChannelSum): string => hashToHex(channel.claimId);
