/** `getclaimproofbybid`: the proof of the claim that has the given rank by effective amount. */
import { equalBytes } from '../../../../util/bytes.js';
import { defineMethod } from '../../../declare/method.js';
import { claimAt, NAME_HEX_PARAM, NAME_PARAM } from '../answers.js';
import { atBlock, blockParam } from '../atBlock.js';
import { BID_PARAM } from './getClaimByBid.js';
import { PLACED_PROOF_SCHEMA, provenName } from './proofs.js';

export const getClaimProofByBid = defineMethod({
  name: 'getclaimproofbybid',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary:
    'Returns the cryptographic proof for the claim of a name at a position in the order of effective amounts.',
  params: [NAME_PARAM, BID_PARAM, blockParam('blockhash (optional parameter 3)'), NAME_HEX_PARAM],
  result: PLACED_PROOF_SCHEMA,
  examples: [['"mindblown"', '1']],
  run(ctx, { name, hex, bid, blockhash }) {
    return atBlock(ctx.services, blockhash, async ({ height }) => {
      if (bid === 0) return provenName(ctx, { name, hex }, height);
      const { claim } = await claimAt(ctx, { name, hex }, height, { bid });
      if (claim === undefined) return [];
      return provenName(ctx, { name, hex }, height, (id) => equalBytes(id, claim.claimId));
    });
  },
});
