/** lbcd's `getclaimsfornamebyseq`: the claims of a name with the given ranks by age. */
import { LBCD_NAME_SCHEMA } from '../../../format/claimsLbcd.js';
import { defineMethod } from '../../../declare/method.js';
import { getInt } from '../../../declare/paramTypes.js';
import { NAME_HEX_PARAM, NAME_PARAM } from '../answers.js';
import { HASH_OR_HEIGHT_PARAM } from './lbcdBlock.js';
import { INCLUDE_VALUES_PARAM, checkItems, ITEMS_AT_ONCE, lbcdNameAnswer } from './lbcdNames.js';

export const getClaimsForNameBySeq = defineMethod({
  name: 'getclaimsfornamebyseq',
  category: 'claimtrie',
  follows: 'chain',
  summary: 'Returns claims for a name by their sequence numbers, highest effective amount first.',
  params: [
    NAME_PARAM,
    {
      name: 'sequences',
      type: 'array',
      required: true,
      description: 'Sequence numbers: the number of claims for the name when the claim was created',
    },
    HASH_OR_HEIGHT_PARAM,
    INCLUDE_VALUES_PARAM,
    NAME_HEX_PARAM,
  ],
  result: LBCD_NAME_SCHEMA,
  examples: [['"mindblown"', '[0, 1]']],
  profiles: ['lbcd'],
  async run(ctx, args) {
    const { sequences } = args;
    await checkItems(sequences, getInt);
    return lbcdNameAnswer(ctx, args, function* (claims) {
      const known = new Set(claims.map(({ claim }) => claim.sequence));
      const wanted = new Set<number>();
      for (let n = 0; n < sequences.length; n++) {
        const sequence = getInt(sequences[n]!);
        if (known.has(sequence)) wanted.add(sequence);
        if (n % ITEMS_AT_ONCE === 0) yield;
      }
      return { claims: claims.filter(({ claim }) => wanted.has(claim.sequence)) };
    });
  },
});
