/** `getclaimbyid`: a claim that is alive at the tip, by its id or a prefix of it. */
import { whenResolved } from '../../../util/maybePromise.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { claimOfBytesAt, ONE_CLAIM_SCHEMA, oneClaimAnswer } from './answers.js';
import { atBlock } from './atBlock.js';

const LEAST_DIGITS = 3;

export const getClaimById = defineMethod({
  name: 'getclaimbyid',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary: 'Gets a claim by its claim id.',
  params: [
    {
      name: 'claimId',
      type: 'claimIdDigits',
      required: true,
      label: 'claimId (parameter 1)',
      description: 'The claim id, or at least its first three digits',
    },
  ],
  result: ONE_CLAIM_SCHEMA,
  examples: [['"36a719a156a1df178531f3c712b8b37f8e7cc3b3"']],
  run(ctx, { claimId }) {
    if (claimId.length < LEAST_DIGITS) {
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'claimId (parameter 1) should be at least 3 chars');
    }
    const { claims } = ctx.services;
    return atBlock(ctx.services, undefined, ({ height }) =>
      whenResolved(claims.findClaim(claimId), (found) => {
        if (found === null) return {};
        return oneClaimAnswer(ctx, claimOfBytesAt(ctx, found.name, height, found), height);
      }),
    );
  },
});
