/** `getclaimbyseq`: a claim of a name by its rank by height. */
import { defineMethod } from '../../../declare/method.js';
import { claimAt, NAME_HEX_PARAM, NAME_PARAM, ONE_CLAIM_SCHEMA, oneClaimAnswer } from '../answers.js';
import { atBlock, blockParam } from '../atBlock.js';

/** Declares the parameter for the rank by height, which two methods share. */
export const SEQUENCE_PARAM = {
  name: 'sequence',
  type: 'integer',
  default: 0,
  range: { min: 0, max: 0x7fffffff, error: 'sequence (parameter 2) should not be a negative value' },
  description: 'Position in the order of age; 0 is the oldest claim',
} as const;

export const getClaimBySeq = defineMethod({
  name: 'getclaimbyseq',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary: 'Gets a claim of a name by its position in the order of heights.',
  params: [NAME_PARAM, SEQUENCE_PARAM, blockParam('blockhash (optional parameter 3)'), NAME_HEX_PARAM],
  result: ONE_CLAIM_SCHEMA,
  examples: [['"mindblown"', '1']],
  run(ctx, { name, hex, sequence, blockhash }) {
    return atBlock(ctx.services, blockhash, ({ height }) =>
      oneClaimAnswer(ctx, claimAt(ctx, { name, hex }, height, { sequence }), height),
    );
  },
});
