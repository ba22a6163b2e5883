/** lbcd's `getclaimsfornamebybid`: the claims of a name at these places by effective amount, as often as they are asked for. */
import { LBCD_NAME_SCHEMA } from '../../format/claimsLbcd.js';
import { defineMethod } from '../../method.js';
import { getInt } from '../../paramTypes.js';
import { NAME_PARAM } from './answers.js';
import { HASH_OR_HEIGHT_PARAM } from './lbcdBlock.js';
import { INCLUDE_VALUES_PARAM, lbcdNameAnswer, readItems } from './lbcdNames.js';

export const getClaimsForNameByBid = defineMethod({
  name: 'getclaimsfornamebybid',
  category: 'claimtrie',
  follows: 'chain',
  summary:
    'Looks up the claims for a name by their places by effective amount, in the order of the places given.',
  params: [
    NAME_PARAM,
    { name: 'bids', type: 'array', required: true, description: 'Places by effective amount; 0 is the best' },
    HASH_OR_HEIGHT_PARAM,
    INCLUDE_VALUES_PARAM,
  ],
  result: LBCD_NAME_SCHEMA,
  examples: [['"mindblown"', '[0, 1]']],
  profiles: ['lbcd'],
  run(ctx, args) {
    const bids = readItems(args.bids, getInt);
    return lbcdNameAnswer(ctx, args, (claims) =>
      bids.flatMap((bid) => {
        const claim = claims[bid];
        return claim === undefined ? [] : [claim];
      }),
    );
  },
});
