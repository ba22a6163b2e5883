/** `gettotalclaimednames`: the number of names with an active claim. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getTotalClaimedNames = defineMethod({
  name: 'gettotalclaimednames',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary:
    'Returns the total number of names that have been successfully claimed, and therefore exist in the trie.',
  params: [],
  result: t.int('the total number of names in the trie'),
  examples: [[]],
  run: async ({ services }) => (await services.claims.totals()).names,
});
