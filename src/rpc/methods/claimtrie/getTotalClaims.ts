/** `gettotalclaims`: the number of active claims. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getTotalClaims = defineMethod({
  name: 'gettotalclaims',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary: 'Returns the total number of active claims in the trie.',
  params: [],
  result: t.int('the total number of active claims'),
  examples: [[]],
  run: async ({ services }) => (await services.claims.totals()).claims,
});
