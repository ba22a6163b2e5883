/** `getclaimproofbyseq`: the proof of the claim that has the given rank by height. */
import { equalBytes } from '../../../../util/bytes.js';
import { defineMethod } from '../../../declare/method.js';
import { claimAt, NAME_HEX_PARAM, NAME_PARAM } from '../answers.js';
import { atBlock, blockParam } from '../atBlock.js';
import { SEQUENCE_PARAM } from './getClaimBySeq.js';
import { PLACED_PROOF_SCHEMA, provenName } from './proofs.js';

export const getClaimProofBySeq = defineMethod({
  name: 'getclaimproofbyseq',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary: 'Returns the cryptographic proof for the claim of a name at a position in the order of age.',
  // The closing parenthesis is missing in the reference's label too.
  params: [NAME_PARAM, SEQUENCE_PARAM, blockParam('blockhash (optional parameter 3'), NAME_HEX_PARAM],
  result: PLACED_PROOF_SCHEMA,
  examples: [['"mindblown"', '1']],
  run(ctx, { name, hex, sequence, blockhash }) {
    return atBlock(ctx.services, blockhash, async ({ height }) => {
      const { claim } = await claimAt(ctx, { name, hex }, height, { sequence });
      if (claim === undefined) return [];
      return provenName(ctx, { name, hex }, height, (id) => equalBytes(id, claim.claimId));
    });
  },
});
