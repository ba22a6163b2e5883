/** lbcd's `getclaimsfornamebyid`: the claims of a name whose ids begin so. */
import { hashToHex } from '../../../util/bytes.js';
import { LBCD_NAME_SCHEMA } from '../../format/claimsLbcd.js';
import { defineMethod } from '../../method.js';
import { getString } from '../../paramTypes.js';
import { NAME_PARAM } from './answers.js';
import { HASH_OR_HEIGHT_PARAM } from './lbcdBlock.js';
import { INCLUDE_VALUES_PARAM, lbcdNameAnswer, readItems } from './lbcdNames.js';

export const getClaimsForNameById = defineMethod({
  name: 'getclaimsfornamebyid',
  category: 'claimtrie',
  follows: 'chain',
  summary: 'Looks up the claims for a name by their ids, best first.',
  params: [
    NAME_PARAM,
    {
      name: 'partialclaimids',
      type: 'array',
      required: true,
      description: 'Claim ids, or the beginnings of them, in lower case',
    },
    HASH_OR_HEIGHT_PARAM,
    INCLUDE_VALUES_PARAM,
  ],
  result: LBCD_NAME_SCHEMA,
  examples: [['"mindblown"', '["36a7"]']],
  profiles: ['lbcd'],
  run(ctx, args) {
    const beginnings = readItems(args.partialclaimids, getString);
    return lbcdNameAnswer(ctx, args, (claims) =>
      claims.filter(({ claim }) => {
        const id = hashToHex(claim.claimId);
        return beginnings.some((beginning) => id.startsWith(beginning));
      }),
    );
  },
});
