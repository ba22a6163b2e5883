/** `getnameproof`: the proof that a name has a certain controlling claim, or that it has none. */
import { hashToHex } from '../../../../util/bytes.js';
import { PROOF_SCHEMA } from '../../../format/claimsProof.js';
import { defineMethod } from '../../../declare/method.js';
import { NAME_HEX_PARAM, NAME_PARAM } from '../answers.js';
import { atBlock, blockParam } from '../atBlock.js';
import { provenName } from './proofs.js';

export const getNameProof = defineMethod({
  name: 'getnameproof',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary: 'Returns the cryptographic proof that a name has a value, or that it has none.',
  params: [
    NAME_PARAM,
    blockParam('blockhash (optional parameter 2)'),
    {
      name: 'claimId',
      type: 'claimIdDigits',
      label: 'claimId (optional parameter 3)',
      description: 'The id of the claim to prove, or its first digits; from the all-claims fork on',
      defaultText: 'the controlling claim',
    },
    NAME_HEX_PARAM,
  ],
  result: PROOF_SCHEMA,
  examples: [['"mindblown"']],
  run(ctx, { name, hex, blockhash, claimId }) {
    const selects = claimId === undefined ? undefined : (id: Uint8Array) => hashToHex(id).startsWith(claimId);
    return atBlock(ctx.services, blockhash, ({ height }) => provenName(ctx, { name, hex }, height, selects));
  },
});
