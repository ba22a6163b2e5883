/** `getvalueforname`: the claim that controls a name, or one of its claims by id. */
import { defineMethod } from '../../declare/method.js';
import { claimAt, NAME_HEX_PARAM, NAME_PARAM, ONE_CLAIM_SCHEMA, oneClaimAnswer } from './answers.js';
import { atBlock, blockParam } from './atBlock.js';

export const getValueForName = defineMethod({
  name: 'getvalueforname',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary: 'Returns the value of the controlling claim of a name, or of the given claim.',
  params: [
    NAME_PARAM,
    blockParam('blockhash (optional parameter 2)'),
    {
      name: 'claimId',
      type: 'claimIdDigits',
      label: 'claimId (optional parameter 3)',
      description: 'The id of a claim for the name, or its first digits',
      defaultText: 'the controlling claim',
    },
    NAME_HEX_PARAM,
  ],
  result: ONE_CLAIM_SCHEMA,
  examples: [['"mindblown"']],
  run(ctx, { name, hex, blockhash, claimId }) {
    const choice = claimId === undefined ? { bid: 0 } : { digits: claimId };
    return atBlock(ctx.services, blockhash, ({ height }) =>
      oneClaimAnswer(ctx, claimAt(ctx, { name, hex }, height, choice), height),
    );
  },
});
