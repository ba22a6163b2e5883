/** lbcd's `getclaimsforname`: every claim of a name. */
import { LBCD_NAME_SCHEMA } from '../../../format/claimsLbcd.js';
import { defineMethod } from '../../../declare/method.js';
import { NAME_HEX_PARAM, NAME_PARAM } from '../answers.js';
import { HASH_OR_HEIGHT_PARAM } from './lbcdBlock.js';
import { INCLUDE_VALUES_PARAM, lbcdNameAnswer } from './lbcdNames.js';

export const lbcdGetClaimsForName = defineMethod({
  name: 'getclaimsforname',
  category: 'claimtrie',
  follows: 'chain',
  summary: 'Returns the claims for a name, highest effective amount first.',
  params: [NAME_PARAM, HASH_OR_HEIGHT_PARAM, INCLUDE_VALUES_PARAM, NAME_HEX_PARAM],
  result: LBCD_NAME_SCHEMA,
  examples: [['"mindblown"']],
  profiles: ['lbcd'],
  run: (ctx, args) =>
    lbcdNameAnswer(ctx, args, function* (claims) {
      return { claims };
    }),
});
