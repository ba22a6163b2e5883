/** `getclaimbybid`: a claim of a name by its rank by effective amount. */
import { defineMethod } from '../../../declare/method.js';
import { claimAt, NAME_HEX_PARAM, NAME_PARAM, ONE_CLAIM_SCHEMA, oneClaimAnswer } from '../answers.js';
import { atBlock, blockParam } from '../atBlock.js';

/** Declares the parameter for the rank by effective amount, which two methods share. */
export const BID_PARAM = {
  name: 'bid',
  type: 'integer',
  default: 0,
  range: { min: 0, max: 0x7fffffff, error: 'bid (parameter 2) should not be a negative value' },
  description: 'Position in the order of effective amounts; 0 is the highest amount',
} as const;

export const getClaimByBid = defineMethod({
  name: 'getclaimbybid',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary: 'Gets a claim of a name by its position in the order of effective amounts.',
  params: [NAME_PARAM, BID_PARAM, blockParam('blockhash (optional parameter 3)'), NAME_HEX_PARAM],
  result: ONE_CLAIM_SCHEMA,
  examples: [['"mindblown"', '1']],
  run(ctx, { name, hex, bid, blockhash }) {
    return atBlock(ctx.services, blockhash, ({ height }) =>
      oneClaimAnswer(ctx, claimAt(ctx, { name, hex }, height, { bid }), height),
    );
  },
});
