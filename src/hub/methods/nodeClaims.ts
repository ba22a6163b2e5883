/** Hub methods about claims that only this hub has: `lbcnode.claimtrie.*`. */
import { hashFromHex, hashToHex } from '../../util/bytes.js';
import type { JsonValue } from '../../util/json/json.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { booleanOf, claimIdOf, nonNegativeInteger } from '../protocol/arguments.js';
import { HUB_ERROR, HubError } from '../protocol/hubError.js';
import type { NodeCall, NodeMethod } from './method.js';
import { supportSums } from '../claims/supportSums.js';

/** Default page size of a list of sums. Arbitrary. */
const DEFAULT_SUMS = 100;
const MAX_SUMS = 1000;

async function sumSupports(
  call: NodeCall,
  [claimId, withContent = false, offset = 0, limit = DEFAULT_SUMS]: readonly (JsonValue | undefined)[],
): Promise<JsonOut> {
  const { claimIndex: index } = call.hub.node;
  if (index === null)
    throw new HubError(HUB_ERROR.internal, 'The claim index is not enabled on this node', true);
  const first = nonNegativeInteger(offset);
  const count = Math.min(nonNegativeInteger(limit), MAX_SUMS);
  const sums = await supportSums(index, hashFromHex(claimIdOf(claimId)), booleanOf(withContent), call.turn);
  return sums.slice(first, first + count).map(({ channel, amountSat, count: supports }) => ({
    channel_id: hashToHex(channel.claimId),
    name: Buffer.from(channel.name).toString('utf8'),
    short_url: channel.shortUrl,
    amount: String(amountSat),
    supports,
  }));
}

export const NODE_CLAIM_METHODS: readonly NodeMethod[] = [
  {
    name: 'lbcnode.claimtrie.support_sum',
    params: ['claim_id', 'include_channel_content', 'offset', 'limit'],
    required: 1,
    run: sumSupports,
  },
];
